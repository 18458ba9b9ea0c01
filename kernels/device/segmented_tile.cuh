// Level L5 (device): one tile of a segmented scan by rows: combined by the tree of
// core/reproducible_tree.hpp and cut at the heads.
// Invariant: as scan_tile.cuh; what precedes a head in the lane, row or warp is dropped there.
// Source: Sengupta et al., "Scan primitives for GPU computing" (2007), 4.2.
#pragma once

#include <lookback/kernels/core/headed.hpp>
#include <lookback/kernels/device/scan_tile.cuh>
#include <lookback/kernels/device/segmented_heads.cuh>

namespace lookback::device {

template <class P, class T, class Op>
struct segmented_tile {
    using geometry = tile_geometry<P, T>;
    using vector = typename geometry::vector;
    static_assert(!P::blocked && P::rows <= 32);

    scan_tile<P, T, Op> items;
    std::uint32_t row_heads;  ///< bit r: row r has a head
    std::uint32_t lanes_cut;  ///< bit r: row r has one in an earlier lane

    __device__ __forceinline__ static lane_heads<vector::items> marks(const unsigned char* heads,
                                                                      int row) {
        lane_heads<vector::items> own;
        own.load(heads + scan_tile<P, T, Op>::first_item() + row * geometry::row_items);
        return own;
    }

    /// Lane totals and row scans. `start` precedes the first item of each segment.
    __device__ __forceinline__ void combine(const unsigned char* heads, const T& start, Op op) {
        row_heads = lanes_cut = 0;
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const auto own = marks(heads, row);
            T total{};
#pragma unroll
            for (int item = 0; item < vector::items; ++item) {
                const T value = items.rows[row].get(item);
                const bool head = own.at(item);
                const T& before = head || item == 0 ? start : total;
                total = head || item > 0 ? op(before, value) : value;
            }
            const auto lanes = warp_heads::of(own.any());
            items.scans[row] = warp::inclusive_scan(total, op, lanes.nearest());
            row_heads |= flag(lanes.lanes) << row;
            lanes_cut |= flag(lanes.below) << row;
        }
    }

    /// 1 for a mask that is not 0. By a minimum: from comparisons ptxas of CUDA 13.0 gathers the
    /// flags of all rows in predicates, and overwrites one of them before it has been read.
    __device__ static std::uint32_t flag(std::uint32_t mask) {
        return arch::minimum(mask, 1);
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

    /// Turns items into results and hands each row to `store(row)`; `base` precedes the
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
            store(row);
        }
    }

private:
    template <bool Exclusive, class Finish>
    __device__ __forceinline__ void write_row(int row, const lane_heads<vector::items>& own,
                                              const T& seed, const T& start, Op op, Finish finish) {
        T in_lane{};
        bool cut = false;
#pragma unroll
        for (int item = 0; item < vector::items; ++item) {
            const T value = items.rows[row].get(item);
            const bool head = own.at(item);
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
