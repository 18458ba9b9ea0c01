// Level L5 (device): how a waiting warp helps a tile whose block is late, so that a scan ends in
// whichever order blocks are dispatched, and however long one is preempted.
// Invariant: a helped value is combined by the owner's own tree, and installed only where nothing
// was published. Source: Smith, Levien, Owens, "Decoupled fallback" (2025).
#pragma once

#include <lookback/kernels/device/scan_tile.cuh>
#include <lookback/kernels/tile/access.cuh>
#include <lookback/kernels/tile/ticket.cuh>
#include <lookback/kernels/tile/warp_window.cuh>

namespace lookback::device {

/// What look-back did, summed over the tiles of a launch; for tests and reports.
struct scan_counters {
    std::uint64_t polls;       ///< windows that were read in vain
    std::uint64_t fallbacks;   ///< tiles added up by a waiting warp
    std::uint64_t insertions;  ///< ... whose sum was the first to be published
};

/// What the tiles of a launch share.
struct scan_channel {
    core::slot_array tiles;
    core::slot_array groups;  ///< group walk only: what precedes each group
    std::uint32_t epoch;
    scan_counters* counters;  ///< null where nobody counts
};

// A poll takes about 0.7 us. Blocks in dispatch order publish within a few polls, so this many
// empty ones mean that the owner is not running.
inline constexpr std::uint32_t polls_before_help = 200;
// The nearer tiles help first; those behind find the value installed.
inline constexpr std::uint32_t polls_per_distance = 8;
inline constexpr index_t farthest_distance = 64;

/// The combination of a whole tile by one warp, in the tile's own order.
template <class P, class T, class Op>
__device__ __forceinline__ T tile_total_by_warp(const scan_arguments<T>& args, index_t tile,
                                                Op op) {
    using geometry = tile_geometry<P, T>;
    using vector = typename geometry::vector;
    T tile_total{};
    const T* from = args.in + tile * geometry::tile_items + arch::lane() * vector::items;
#pragma unroll 1
    for (int warp = 0; warp < P::warps; ++warp) {
        T warp_total{};
#pragma unroll 1
        for (int row = 0; row < P::rows; ++row, from += geometry::row_items) {
            // A tile that others wait for is not the last one, so it is whole.
            const vector items = tile::load_items(from, vector::items);
            T total = items.get(0);
#pragma unroll
            for (int i = 1; i < vector::items; ++i) total = op(total, items.get(i));
            total = arch::shuffle(warp::inclusive_scan(total, op), arch::warp_lanes - 1);
            warp_total = row == 0 ? total : op(warp_total, total);
        }
        tile_total = warp == 0 ? warp_total : op(tile_total, warp_total);
    }
    return tile_total;
}

__device__ __forceinline__ void count_event(const scan_channel& channel,
                                            std::uint64_t scan_counters::*counter) {
    if (channel.counters != nullptr && arch::lane() == 0) {
        arch::add(&(channel.counters->*counter), 1);
    }
}

/// After a poll of `late` in vain by a warp of `waiting`: once it has waited for long enough, it
/// installs total_of(late), which the whole warp computes.
template <class T, class TotalOf>
__device__ __forceinline__ void help_when_due(const scan_channel& channel, index_t waiting,
                                              index_t late, std::uint32_t polls, TotalOf total_of) {
    const index_t distance = waiting - late;
    const auto rank =
        static_cast<std::uint32_t>(distance < farthest_distance ? distance : farthest_distance);
    if (polls < polls_before_help + polls_per_distance * rank) return;
    const T total = total_of(late);
    count_event(channel, &scan_counters::fallbacks);
    bool installed = false;
    if (arch::lane() == 0) {
        installed = core::install<core::tagged_codec<T>, tile::device_access>(channel.tiles, late,
                                                                              channel.epoch, total);
    }
    if (installed) count_event(channel, &scan_counters::insertions);
    __syncwarp();
}

/// The waiter of core/lookback.hpp for the tiles of a scan; used by a whole warp.
template <class P, class T, class Op>
struct tile_waiter {
    const scan_arguments<T>& args;
    const scan_channel& channel;
    index_t tile;  ///< the one that waits
    Op op;

    __device__ __forceinline__ void stalled(index_t late, std::uint32_t polls) const {
        count_event(channel, &scan_counters::polls);
        if constexpr (P::order == tuning::tile_order::block) {
            help_when_due<T>(channel, tile, late, polls, [&](index_t missing) {
                return tile_total_by_warp<P, T, Op>(args, missing, op);
            });
        }
    }
};

}  // namespace lookback::device
