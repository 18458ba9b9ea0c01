// Level L5 (device): one tile of a segmented scan whose lanes hold neighbouring items: each lane
// scans its own run of items, then one scan of lane totals joins the lanes of a warp. Per 32 items
// of a lane about 200 instructions; by rows (segmented_tile.cuh) about 700.
// Invariant: after combine() an item is the combination since the last head in its lane, or since
// the lane's first item. Source: Sengupta et al., "Scan primitives for GPU computing" (2007), 4.2.
#pragma once

#include <lookback/kernels/core/headed.hpp>
#include <lookback/kernels/device/scan_tile.cuh>
#include <lookback/kernels/device/segmented_heads.cuh>

namespace lookback::device {

template <class P, class T, class Op>
struct segmented_runs {
    using geometry = tile_geometry<P, T>;
    using vector = typename geometry::vector;
    using turn = tile::transpose<vector, P::rows>;
    static constexpr int lane_items = P::rows * vector::items;
    static_assert(P::blocked);

    scan_tile<P, T, Op> items;
    lane_heads<lane_items> own;
    warp_heads lanes;
    T up_to;  ///< of the lane's last item: the combination since the last head in the warp

    __device__ __forceinline__ void turn_in(uint4* turning) {
        turn::to_blocked(items.rows, turning);
    }

    /// Scans each lane's items, and the lane totals. `start` precedes the first item of a segment.
    __device__ __forceinline__ void combine(const unsigned char* heads, const T& start, Op op) {
        own.load(heads + static_cast<int>(threadIdx.x) * lane_items);
        T running{};
#pragma unroll
        for (int item = 0; item < lane_items; ++item) {
            const T value = get(item);
            const bool head = own.at(item);
            const T& before = head || item == 0 ? start : running;
            running = head || item > 0 ? op(before, value) : value;
            set(item, running);
        }
        lanes = warp_heads::of(own.any());
        up_to = warp::inclusive_scan(running, op, lanes.nearest());
    }

    __device__ __forceinline__ core::headed<T> warp_total(Op /*op*/) const {
        return {arch::shuffle(up_to, arch::warp_lanes - 1), lanes.lanes};
    }

    /// What precedes the lane's first item since the last head; `base` precedes the warp.
    __device__ __forceinline__ T seed(const T& base, Op op) const {
        const T lanes_before = arch::shuffle_up(up_to, 1);
        if (arch::lane() == 0) return base;
        return lanes.below != 0 ? lanes_before : op(base, lanes_before);
    }

    /// Turns items into results and hands each row to `store(row)`; `base` precedes the warp's
    /// first item, finish(result) is what is written of a result.
    template <bool Exclusive, class Finish, class Store>
    __device__ __forceinline__ void finish(const unsigned char* /*heads*/, uint4* turning,
                                           const T& base, const T& start, Op op, Finish finish,
                                           Store store) {
        const T before = seed(base, op);
        const int first = own.first();
        T earlier = before;
#pragma unroll
        for (int item = 0; item < lane_items; ++item) {
            T result = get(item);
            if (item < first) result = op(before, result);
            if constexpr (Exclusive) {
                set(item, finish(own.at(item) ? start : earlier));
                earlier = result;
            } else {
                set(item, finish(result));
            }
        }
        turn::to_striped(items.rows, turning);
#pragma unroll
        for (int row = 0; row < P::rows; ++row) store(row);
    }

    /// Leaves the items in the memory where they were turned, for item_at().
    __device__ __forceinline__ void keep(uint4* turning) const {
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            uint4 bits;
            memcpy(&bits, &items.rows[row], sizeof(bits));
            turning[turn::cell(arch::lane() * P::rows + row)] = bits;
        }
    }
    /// Item `item` of the tile, as its warp kept it.
    __device__ __forceinline__ static T item_at(const turning_space<P, T>& space, int item) {
        const uint4* warp = space.warps[item / geometry::warp_items];
        const int vector_in_warp = item % geometry::warp_items / vector::items;
        return reinterpret_cast<const T*>(warp + turn::cell(vector_in_warp))[item % vector::items];
    }

private:
    __device__ __forceinline__ T get(int item) const {
        return items.rows[item / vector::items].get(item % vector::items);
    }
    __device__ __forceinline__ void set(int item, const T& value) {
        items.rows[item / vector::items].set(item % vector::items, value);
    }
};

}  // namespace lookback::device
