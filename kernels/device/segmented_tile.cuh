// Level L5 (device): one tile of a segmented scan: its items in registers, its heads as bytes in
// shared memory, combined by the tree of core/reproducible_tree.hpp and cut at the heads.
// Invariant: as scan_tile.cuh; what precedes a head in the lane, row or warp is dropped there.
// Source: Sengupta et al., "Scan primitives for GPU computing" (2007), 4.2.
#pragma once

#include <lookback/kernels/core/headed.hpp>
#include <lookback/kernels/core/lookback.hpp>
#include <lookback/kernels/device/scan_tile.cuh>

namespace lookback::device {

template <class P, class T, class Op>
struct segmented_tile {
    using geometry = tile_geometry<P, T>;
    using vector = typename geometry::vector;
    static_assert(!P::blocked && P::rows <= 32);

    scan_tile<P, T, Op> items;
    std::uint32_t row_heads;  ///< bit r: row r has a head
    std::uint32_t lanes_cut;  ///< bit r: row r has one in an earlier lane

    /// Bit i: item i of the lane's vector in `row` is a head. `heads` is 16-byte aligned.
    __device__ __forceinline__ static std::uint32_t marks(const unsigned char* heads, int row) {
        const unsigned char* own =
            heads + scan_tile<P, T, Op>::first_item() + row * geometry::row_items;
        if constexpr (vector::items == 1) {
            return own[0];
        } else if constexpr (vector::items == 2) {
            const std::uint32_t bytes = *reinterpret_cast<const std::uint16_t*>(own);
            return (bytes | bytes >> 7) & 3;
        } else {
            std::uint32_t bits = 0;
            const auto* words = reinterpret_cast<const std::uint32_t*>(own);
#pragma unroll
            for (int word = 0; word < vector::items / 4; ++word) {
                // Four bytes of 0 or 1 to four bits: no two products meet.
                bits |= words[word] * 0x10204080U >> 28 << 4 * word;
            }
            return bits;
        }
    }

    /// Lane totals and row scans. `start` precedes the first item of each segment.
    __device__ __forceinline__ void combine(const unsigned char* heads, const T& start, Op op) {
        row_heads = lanes_cut = 0;
        const std::uint32_t own_bit = 1U << arch::lane();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const std::uint32_t own = marks(heads, row);
            T total{};
#pragma unroll
            for (int item = 0; item < vector::items; ++item) {
                const T value = items.rows[row].get(item);
                const bool head = (own >> item & 1) != 0;
                const T& before = head || item == 0 ? start : total;
                total = head || item > 0 ? op(before, value) : value;
            }
            const std::uint32_t lanes = arch::ballot(own != 0);
            const std::uint32_t below = lanes & (own_bit - 1);
            // The nearest lane with a head, this one included; lane 0 where there is none.
            const int first = core::highest_bit(below | (lanes & own_bit) | 1);
            items.scans[row] = warp::inclusive_scan(total, op, first);
            row_heads |= std::uint32_t{lanes != 0} << row;
            lanes_cut |= std::uint32_t{below != 0} << row;
        }
    }

    __device__ bool row_has_head(int row) const {
        return (row_heads >> row & 1) != 0;
    }

    __device__ __forceinline__ core::headed<T> warp_total(Op op) const {
        T total = items.row_total(0);
#pragma unroll
        for (int row = 1; row < P::rows; ++row) {
            const T next = items.row_total(row);
            total = row_has_head(row) ? next : op(total, next);
        }
        return {total, row_heads};
    }

    /// Turns items into results and hands each row to `store(row, vector)`; `base` precedes the
    /// warp's first item, finish(result) is what is written of a result.
    template <bool Exclusive, class Finish, class Store>
    __device__ __forceinline__ void finish(const unsigned char* heads, const T& base,
                                           const T& start, Op op, Finish finish, Store store) {
        T rows_before{};
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            T seed = base;
            if (row > 0) {
                const bool cut = (row_heads & ((1U << row) - 1)) != 0;
                seed = cut ? rows_before : op(base, rows_before);
            }
            const T lanes_before = arch::shuffle_up(items.scans[row], 1);
            if (arch::lane() > 0) {
                seed = (lanes_cut >> row & 1) != 0 ? lanes_before : op(seed, lanes_before);
            }
            write_row<Exclusive>(row, marks(heads, row), seed, start, op, finish);
            const T total = items.row_total(row);
            rows_before = row == 0 || row_has_head(row) ? total : op(rows_before, total);
            store(row, items.rows[row]);
        }
    }

private:
    template <bool Exclusive, class Finish>
    __device__ __forceinline__ void write_row(int row, std::uint32_t own, const T& seed,
                                              const T& start, Op op, Finish finish) {
        T in_lane{};
        bool cut = false;
#pragma unroll
        for (int item = 0; item < vector::items; ++item) {
            const T value = items.rows[row].get(item);
            const bool head = (own >> item & 1) != 0;
            T result = seed;
            if (Exclusive && item > 0) result = cut ? in_lane : op(seed, in_lane);
            if (Exclusive && head) result = start;
            const T& before = head || item == 0 ? start : in_lane;
            in_lane = head || item > 0 ? op(before, value) : value;
            cut = cut || head;
            if (!Exclusive) result = cut ? in_lane : op(seed, in_lane);
            items.rows[row].set(item, finish(result));
        }
    }
};

}  // namespace lookback::device
