// Level L5 (device): scans in two passes over the items, without look-back: three launches, or one
// cooperative launch with a grid-wide barrier. Two reads and one write an item.
// Invariant: no block waits for another, except at the barrier, which the launch guarantees.
// Source: Blelloch (1990), 1.2; Sengupta et al., "Scan primitives for GPU computing" (2007).
#pragma once

#include <lookback/kernels/block/scan.cuh>
#include <lookback/kernels/device/scan_workspace.cuh>

#include <cooperative_groups.h>

namespace lookback::device {

/// Each block's share: neighbouring tiles.
struct tile_range {
    index_t begin;
    index_t end;

    __device__ static tile_range of_block(index_t tiles) {
        const index_t share = core::ceil_div<index_t>(tiles, gridDim.x);
        const index_t begin = share * blockIdx.x < tiles ? share * blockIdx.x : tiles;
        return {begin, begin + share < tiles ? begin + share : tiles};
    }
};

template <class P, class T>
struct pass_shared {
    T warp_totals[P::warps];
    turning_space<P, T> turning;
};

/// Loads a tile and tells its warps' totals to the block.
template <class P, class T, class Op>
__device__ __forceinline__ void load_and_total(const scan_arguments<T>& args, index_t tile,
                                               scan_tile<P, T, Op>& items,
                                               pass_shared<P, T>& shared, Op op) {
    items.load(args, tile, shared.turning.own());
    items.lane_totals(op);
    if constexpr (!scan_tile<P, T, Op>::any_order) items.row_scans(op);
    const T total = items.warp_total(op);
    const int warp = arch::warp();
    if (arch::lane() == 0) shared.warp_totals[warp] = total;
    __syncthreads();  // warp totals are written
}

/// The combination of the block's tiles, in every thread.
template <class P, class T, class Op>
__device__ __forceinline__ T reduce_tiles(const scan_arguments<T>& args, tile_range range,
                                          pass_shared<P, T>& shared, Op op) {
    T total{};
    for (index_t tile = range.begin; tile < range.end; ++tile) {
        scan_tile<P, T, Op> items;
        load_and_total(args, tile, items, shared, op);
        const T part = fold(shared.warp_totals, P::warps, op);
        total = tile == range.begin ? part : op(total, part);
        __syncthreads();  // warp totals are read
    }
    return total;
}

/// Writes the results of the block's tiles; `base` precedes them.
template <class P, class T, class Op>
__device__ __forceinline__ void scan_tiles(const scan_arguments<T>& args, tile_range range,
                                           preceding<T, Op> base, pass_shared<P, T>& shared,
                                           Op op) {
    const int warp = arch::warp();
    for (index_t tile = range.begin; tile < range.end; ++tile) {
        scan_tile<P, T, Op> items;
        load_and_total(args, tile, items, shared, op);
        if constexpr (scan_tile<P, T, Op>::any_order) items.row_scans(op);
        const auto warp_base = warp > 0 ? base.then(fold(shared.warp_totals, warp, op), op) : base;
        base = base.then(fold(shared.warp_totals, P::warps, op), op);
        items.finish(args, tile, warp_base, shared.turning.own(), op);
        __syncthreads();  // warp totals are read
    }
}

template <class T, class Op>
__device__ __forceinline__ preceding<T, Op> initial(const scan_arguments<T>& args) {
    if (args.has_init) return {args.init, true};
    return preceding<T, Op>::nothing();
}

template <class P, class T, class Op>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    reduce_chunks(const scan_arguments<T> args, T* totals, const Op op) {
    __shared__ pass_shared<P, T> shared;
    const T total = reduce_tiles<P>(args, tile_range::of_block(args.tiles), shared, op);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

/// Inclusive scan of up to most_chunks totals by one block, in place.
template <class Form, class T, class Op>
__global__ void __launch_bounds__(most_chunks) scan_totals(T* totals, int count, const Op op) {
    __shared__ T shared[most_chunks];
    const int thread = static_cast<int>(threadIdx.x);
    const T value = totals[thread < count ? thread : count - 1];
    const T result = Form::inclusive_scan(value, shared, op);
    if (thread < count) totals[thread] = result;
}

template <class P, class T, class Op>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    scan_chunks(const scan_arguments<T> args, const T* totals, const Op op) {
    __shared__ pass_shared<P, T> shared;
    preceding<T, Op> base = initial<T, Op>(args);
    if (blockIdx.x > 0) base = base.then(totals[blockIdx.x - 1], op);
    scan_tiles<P>(args, tile_range::of_block(args.tiles), base, shared, op);
}

/// Reduce, barrier, scan, in one cooperative launch.
template <class P, class T, class Op>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    grid_barrier_scan(const scan_arguments<T> args, T* totals, const Op op) {
    __shared__ pass_shared<P, T> shared;
    const tile_range range = tile_range::of_block(args.tiles);
    const T total = reduce_tiles<P>(args, range, shared, op);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
    cooperative_groups::this_grid().sync();  // all totals are written
    preceding<T, Op> base = initial<T, Op>(args);
    // Each warp adds up the earlier blocks for itself: a few hundred values from L2.
    const int blocks = static_cast<int>(blockIdx.x);
    for (int first = 0; first < blocks; first += arch::warp_lanes) {
        const int count = blocks - first < arch::warp_lanes ? blocks - first : arch::warp_lanes;
        const int lane = arch::lane() < count ? arch::lane() : count - 1;
        const T up_to = warp::inclusive_scan(totals[first + lane], op);
        base = base.then(arch::shuffle(up_to, count - 1), op);
    }
    scan_tiles<P>(args, range, base, shared, op);
}

/// Chunks of a scan of so many tiles: none is empty.
inline int chunks_of(index_t tiles, int most) {
    const index_t share = core::ceil_div<index_t>(tiles, most);
    return static_cast<int>(core::ceil_div(tiles, share));
}

template <class P, class Form, class T, class Op>
cudaError_t launch_three(scan_arguments<T> args, T* totals, Op op, cudaStream_t stream) {
    args.tiles = core::tile_shape{args.items, tile_geometry<P, T>::tile_items}.tiles();
    const int chunks = chunks_of(args.tiles, most_chunks);
    const arch::grid passes{static_cast<unsigned>(chunks), P::threads};
    cudaError_t status = arch::launch(reduce_chunks<P, T, Op>, passes, stream, args, totals, op);
    if (status != cudaSuccess) return status;
    status = arch::launch(scan_totals<Form, T, Op>, {1, most_chunks}, stream, totals, chunks, op);
    if (status != cudaSuccess) return status;
    return arch::launch(scan_chunks<P, T, Op>, passes, stream, args, totals, op);
}

template <class P, class T, class Op>
cudaError_t launch_grid_barrier(scan_arguments<T> args, T* totals, Op op, cudaStream_t stream) {
    args.tiles = core::tile_shape{args.items, tile_geometry<P, T>::tile_items}.tiles();
    int device = 0;
    int sms = 0;
    int per_sm = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) {
        status = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    }
    if (status == cudaSuccess) {
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, grid_barrier_scan<P, T, Op>,
                                                               P::threads, 0);
    }
    if (status != cudaSuccess) return status;
    const int most = sms * per_sm < most_chunks ? sms * per_sm : most_chunks;
    const arch::grid shape{static_cast<unsigned>(chunks_of(args.tiles, most)), P::threads};
    return arch::launch_cooperative(grid_barrier_scan<P, T, Op>, shape, stream, args, totals, op);
}

}  // namespace lookback::device
