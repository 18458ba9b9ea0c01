// Level L5 (device): the single-pass scan kernel: each block takes one tile, publishes its total,
// learns what precedes it and writes its results. One read and one write an item.
// Invariant: progress depends on no order of dispatch: tiles are taken by ticket, or helped.
// Source: Merrill and Garland (2016); Smith, Levien, Owens (2025).
#pragma once

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/device/scan_walk.cuh>

namespace lookback::device {

/// The warp's part of the block's turning space; staged_bytes of dynamic shared memory hold it, or
/// it is static.
template <class P, class T>
__device__ __forceinline__ uint4* turning_of_warp() {
    if constexpr (P::staged) {
        return static_cast<turning_space<P, T>*>(arch::dynamic_shared())->own();
    } else {
        __shared__ turning_space<P, T> space;
        return space.own();
    }
}

/// Scans the tile whose items are loaded; called by a whole block, one thread of which has written
/// shared.arrival.
template <class P, class T, class Op>
__device__ __forceinline__ void scan_loaded_tile(const scan_arguments<T>& args,
                                                 scan_channel channel, index_t tile,
                                                 scan_tile<P, T, Op>& items,
                                                 scan_shared<P, T>& shared, uint4* turning, Op op) {
    constexpr bool any_order = scan_tile<P, T, Op>::any_order;
    const int warp = arch::warp();
    items.arrive();
    items.lane_totals(op);
    if constexpr (!any_order) items.row_scans(op);
    const T total = items.warp_total(op);
    if (arch::lane() == 0) shared.warp_totals[warp] = total;
    __syncthreads();  // warp totals and the arrival are written
    channel.epoch = shared.arrival.epoch;
    const auto meanwhile = [&] {
        if constexpr (any_order) {
            items.lane_totals_again(op);
            items.row_scans(op);
        }
    };
    preceding<T, Op> base;
    if constexpr (P::walk == tuning::scan_walk::window) {
        base = walk_windows<P, T>(args, channel, tile, shared, op, meanwhile);
    } else {
        base = read_group<P, T>(args, channel, tile, shared, op, meanwhile);
    }
    if (warp > 0) base = base.then(shared.warps_before[warp], op);
    if constexpr (P::order == tuning::tile_order::block) tile = arch::block_number();
    items.finish(args, tile, base, turning, op);
}

/// The words of a workspace as one launch uses them.
struct scan_words {
    tile::epoch_words shared;
    index_t stride;           ///< words a slot
    scan_counters* counters;  ///< null where nobody counts

    __device__ scan_channel channel(index_t tiles) const {
        return {{shared.words, stride}, {shared.words + tiles * stride, stride}, 0, counters};
    }
};

/// Slots that a scan of so many tiles uses: one a tile, then one a group and one more.
LOOKBACK_HD constexpr index_t slots_of(index_t tiles) {
    return tiles + tiles / group_tiles + 1;
}

template <class P, class T, class Op>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    lookback_scan(const scan_arguments<T> args, const scan_words words, const Op op) {
    __shared__ scan_shared<P, T> shared;
    uint4* turning = turning_of_warp<P, T>();
    constexpr bool by_ticket = P::order == tuning::tile_order::ticket;
    scan_tile<P, T, Op> items;
    index_t tile = arch::block_number();
    if constexpr (!by_ticket) items.load(args, tile, turning);
    if (threadIdx.x == 0) {
        shared.arrival = tile::arrive(words.shared, gridDim.x, slots_of(args.tiles) * words.stride);
    }
    if constexpr (by_ticket) {
        __syncthreads();  // the ticket is written
        tile = shared.arrival.order;
        items.load(args, tile, turning);
    }
    scan_loaded_tile<P, T>(args, words.channel(args.tiles), tile, items, shared, turning, op);
}

template <class P, class T, class Op>
cudaError_t launch_lookback(scan_arguments<T> args, const scan_words& words, Op op,
                            cudaStream_t stream) {
    args.tiles = core::tile_shape{args.items, tile_geometry<P, T>::tile_items}.tiles();
    return arch::launch(lookback_scan<P, T, Op>,
                        {static_cast<unsigned>(args.tiles), P::threads, staged_bytes<P, T>}, stream,
                        args, words, op);
}

}  // namespace lookback::device
