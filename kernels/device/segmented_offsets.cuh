// Level L5 (device): CSR offsets: which of them fall into each tile of items, where they mark
// heads, and whether they are in order.
// Invariant: the time of a tile is bounded by its items, however many empty segments lie in it, but
// for one look at the ends of each chunk of offsets.
#pragma once

#include <lookback/kernels/arch/lane.cuh>
#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/tuning/segmented_scan.hpp>

namespace lookback::device {

using core::index_t;

/// Offsets of `segments` segments: offsets[0] = 0, none is less than the one before it.
struct segment_list {
    const index_t* offsets;  ///< segments + 1
    index_t segments;

    __device__ index_t count() const { return segments + 1; }
};

/// The first offset greater than `value`, of those in [from, to). By quarters: three loads are
/// under way at once, and half as many wait for each other as by halves.
__device__ __forceinline__ index_t first_greater(const segment_list& list, index_t from, index_t to,
                                                 index_t value) {
    while (from < to) {
        const index_t step = (to - from) / 4;
        const index_t middle = from + 2 * step;
        const bool first = list.offsets[middle - step] > value;
        const bool second = list.offsets[middle] > value;
        const bool third = list.offsets[middle + step] > value;
        if (second) {
            to = first ? middle - step : middle;
            from = first ? from : middle - step + 1;
        } else {
            to = third ? middle + step : to;
            from = third ? middle + 1 : middle + step + 1;
        }
    }
    return from;
}

/// bounds[t], 0 < t <= tiles: the first offset greater than the first item of tile t; bounds[0]
/// is 1. Offsets [bounds[t], bounds[t + 1]) lie in (first item, first item of the next tile].
template <class Index>
__global__ void __launch_bounds__(128)
    find_bounds(const segment_list list, Index tile_items, Index tiles, Index* bounds) {
    const Index tile = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (tile > tiles) return;
    Index bound = tile == 0 ? 1 : list.count();
    if (tile > 0 && tile < tiles) {
        bound = first_greater(list, 1, list.count(), tile * tile_items);
    }
    bounds[tile] = bound;
}

inline cudaError_t launch_find_bounds(const segment_list& list, index_t tile_items, index_t tiles,
                                      index_t* bounds, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((tiles + 128) / 128);
    return arch::launch(find_bounds<index_t>, {blocks, 128}, stream, list, tile_items, tiles,
                        bounds);
}

/// A run of tuning::offset_chunk offsets that begins at a multiple of it.
struct offset_run {
    index_t begin;
    index_t end;

    __device__ static offset_run of(const segment_list& list, index_t chunk) {
        const index_t begin = chunk * tuning::offset_chunk;
        const index_t end = begin + tuning::offset_chunk;
        return {begin, end < list.count() ? end : list.count()};
    }
    /// All offsets are equal: the segments between them are empty.
    __device__ bool constant(const segment_list& list) const {
        return list.offsets[begin] == list.offsets[end - 1];
    }
};

/// visit(j, offsets[j]) for each j in [from, to), by a group of `threads` threads of which this is
/// number `thread`; four offsets are under way at once.
template <class Visit>
__device__ __forceinline__ void for_offsets(const segment_list& list, index_t from, index_t to,
                                            int thread, int threads, Visit visit) {
    constexpr int batch = 4;
    for (index_t j = from + thread; j < to; j += batch * threads) {
        index_t offset[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const index_t at = j + i * threads;
            offset[i] = list.offsets[at < to ? at : to - 1];
        }
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if (j + i * threads < to) visit(j + i * threads, offset[i]);
        }
    }
}

/// The same by a whole block, for the offsets of a tile. Where they are many, each warp takes
/// chunks, `chunk_batch` a lane at once, and of a constant chunk visits the first offset alone:
/// 16 million equal offsets take 16 rounds of a warp.
template <int Threads, class Visit>
__device__ __forceinline__ void for_offsets_of_tile(const segment_list& list, index_t from,
                                                    index_t to, Visit visit) {
    if (to - from <= tuning::many_offsets) {
        for_offsets(list, from, to, static_cast<int>(threadIdx.x), Threads, visit);
        return;
    }
    constexpr int batch = tuning::chunk_batch;
    constexpr index_t step = arch::warp_lanes * batch;  // chunks of a warp
    for (index_t chunks = from / tuning::offset_chunk + arch::warp() * step;
         chunks * tuning::offset_chunk < to; chunks += Threads / arch::warp_lanes * step) {
        std::uint32_t varying[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const index_t chunk = chunks + i * arch::warp_lanes + arch::lane();
            const bool inside = chunk * tuning::offset_chunk < to;
            const offset_run run = offset_run::of(list, inside ? chunk : chunks);
            const bool constant = run.constant(list);
            varying[i] = arch::ballot(inside && !constant);
            if (inside && constant && run.begin >= from) visit(run.begin, list.offsets[run.begin]);
        }
#pragma unroll 1
        for (int i = 0; i < batch; ++i) {
            for (std::uint32_t left = varying[i]; left != 0; left &= left - 1) {
                const int lane = __ffs(static_cast<int>(left)) - 1;
                const offset_run run = offset_run::of(list, chunks + i * arch::warp_lanes + lane);
                for_offsets(list, run.begin > from ? run.begin : from, run.end < to ? run.end : to,
                            arch::lane(), arch::warp_lanes, visit);
            }
        }
    }
}

/// fill(s) for each empty segment s whose both ends lie in one constant chunk. All blocks together
/// look at all chunks, a warp at one at a time.
template <int Threads, class Fill>
__device__ __forceinline__ void for_constant_chunks(const segment_list& list, Fill fill) {
    constexpr int warps = Threads / arch::warp_lanes;
    const index_t step = static_cast<index_t>(gridDim.x) * warps;
    for (index_t chunk = static_cast<index_t>(blockIdx.x) * warps + arch::warp();
         chunk * tuning::offset_chunk < list.count(); chunk += step) {
        const offset_run run = offset_run::of(list, chunk);
        if (!run.constant(list)) continue;
        for (index_t s = run.begin + arch::lane(); s + 1 < run.end; s += arch::warp_lanes) fill(s);
    }
}

/// What launch_check_offsets() finds.
struct offset_report {
    unsigned long long
        decrease;  ///< the least s with offsets[s] < offsets[s - 1], or none: all bits
    index_t first;
    index_t last;
};

template <class Index>
__global__ void __launch_bounds__(256)
    check_offsets(const segment_list list, offset_report* report) {
    const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
    const Index begin = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (begin == 0) {
        report->first = list.offsets[0];
        report->last = list.offsets[list.segments];
    }
    for (Index s = begin + 1; s < list.count(); s += step) {
        if (list.offsets[s] < list.offsets[s - 1]) {
            atomicMin(&report->decrease, static_cast<unsigned long long>(s));
            return;  // later ones of this thread are greater
        }
    }
}

/// Fills *report, in device memory. One read an offset; asynchronous.
inline cudaError_t launch_check_offsets(const segment_list& list, offset_report* report,
                                        cudaStream_t stream) {
    const cudaError_t status = cudaMemsetAsync(report, 0xff, sizeof(*report), stream);
    if (status != cudaSuccess) return status;
    constexpr index_t most_blocks = 1056;
    const index_t blocks = core::ceil_div<index_t>(list.segments + 1, 256);
    return arch::launch(check_offsets<index_t>,
                        {static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), 256},
                        stream, list, report);
}

}  // namespace lookback::device
