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
/// under way at once, and half as many wait for each other as by halves. By eighths 2^15 searches
/// in 2^26 offsets take 24 us in place of 11.
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
    arch::allow_next_kernel();
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

/// visit(j, offsets[j - 1], offsets[j]) for each j in [from, to), from > 0, by a group of `threads`
/// threads of which this is number `thread`; four offsets are under way at once.
template <class Visit>
__device__ __forceinline__ void for_offsets(const segment_list& list, index_t from, index_t to,
                                            int thread, int threads, Visit visit) {
    constexpr int batch = 4;
    for (index_t j = from + thread; j < to; j += batch * threads) {
        index_t before[batch];
        index_t offset[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const index_t at = j + i * threads < to ? j + i * threads : to - 1;
            before[i] = list.offsets[at - 1];
            offset[i] = list.offsets[at];
        }
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if (j + i * threads < to) visit(j + i * threads, before[i], offset[i]);
        }
    }
}

/// The same for a span, 32 chunks, by a warp: of a constant chunk it visits the first offset alone.
template <class Visit>
__device__ __forceinline__ void for_offsets_of_span(const segment_list& list, index_t span,
                                                    index_t from, index_t to, Visit visit) {
    const index_t first = span * arch::warp_lanes;
    const offset_run own = offset_run::of(list, first + arch::lane());
    const bool whole = own.begin >= from && own.end <= to && own.begin < own.end;
    const bool constant = whole && own.constant(list);
    if (constant) visit(own.begin, list.offsets[own.begin - 1], list.offsets[own.begin]);
    for (std::uint32_t left = ~arch::ballot(constant); left != 0; left &= left - 1) {
        const offset_run run = offset_run::of(list, first + __ffs(static_cast<int>(left)) - 1);
        for_offsets(list, run.begin > from ? run.begin : from, run.end < to ? run.end : to,
                    arch::lane(), arch::warp_lanes, visit);
    }
}

/// The same for the offsets of a tile, by `Threads` threads, whole warps, of which this is number
/// `thread`. Where they are many, a lane looks at the ends of a span, so that a warp passes over 16
/// million equal offsets in 16 rounds, but for one visit a chunk.
template <int Threads, class Visit>
__device__ __forceinline__ void for_offsets_of_tile(const segment_list& list, index_t from,
                                                    index_t to, int thread, Visit visit) {
    constexpr int warps = Threads / arch::warp_lanes;
    if (to - from <= tuning::many_offsets / 8 * warps) {
        for_offsets(list, from, to, thread, Threads, visit);
        return;
    }
    constexpr index_t span_offsets = arch::warp_lanes * tuning::offset_chunk;
    const int warp = warps == 1 ? 0 : arch::warp();
    for (index_t spans = from / span_offsets + warp * arch::warp_lanes; spans * span_offsets < to;
         spans += warps * arch::warp_lanes) {
        const index_t begin = (spans + arch::lane()) * span_offsets;
        const bool whole = begin >= from && begin + span_offsets <= to;
        const index_t before = whole ? list.offsets[begin - 1] : 0;
        const index_t offset = whole ? list.offsets[begin] : 0;
        const bool constant = whole && list.offsets[begin + span_offsets - 1] == offset;
        const std::uint32_t passed = arch::ballot(constant);
#pragma unroll 1
        for (int lane = 0; lane < arch::warp_lanes; ++lane) {
            const index_t span = spans + lane;
            if (span * span_offsets >= to) break;
            if ((passed >> lane & 1) == 0) {
                for_offsets_of_span(list, span, from, to, visit);
                continue;
            }
            const index_t value = arch::shuffle(offset, lane);
            const index_t earlier = arch::shuffle(before, lane);
            visit(span * span_offsets + arch::lane() * tuning::offset_chunk,
                  arch::lane() == 0 ? earlier : value, value);
        }
    }
}

/// fill(s) for each empty segment s whose both ends lie in one constant chunk. All blocks together
/// look at all chunks, a warp at `Lanes` at a time.
template <int Threads, int Lanes = arch::warp_lanes, class Fill>
__device__ __forceinline__ void for_constant_chunks(const segment_list& list, Fill fill) {
    constexpr int warps = Threads / arch::warp_lanes;
    const index_t step = static_cast<index_t>(gridDim.x) * warps * Lanes;
    for (index_t chunks = (static_cast<index_t>(blockIdx.x) * warps + arch::warp()) * Lanes;
         chunks * tuning::offset_chunk < list.count(); chunks += step) {
        const index_t own = chunks + arch::lane();
        const bool inside = arch::lane() < Lanes && own * tuning::offset_chunk < list.count();
        std::uint32_t constant =
            arch::ballot(inside && offset_run::of(list, inside ? own : chunks).constant(list));
        for (; constant != 0; constant &= constant - 1) {
            const int lane = __ffs(static_cast<int>(constant)) - 1;
            const offset_run run = offset_run::of(list, chunks + lane);
            for (index_t s = run.begin + arch::lane(); s + 1 < run.end; s += arch::warp_lanes) {
                fill(s);
            }
        }
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
