// Level L5 (device): how a tile of a scan learns what precedes it: by a walk over windows of 32
// tiles, or from its fixed group of 256. Both publish and wait by core/lookback.hpp.
// Invariant: in-place scans are safe: a tile's own word is in place before its block stores
// results, so that a helper who read some of them finds the word and drops its sum.
// Source: Merrill and Garland (2016), 4; fixed groups after StreamScan (Yan et al., 2013).
#pragma once

#include <lookback/kernels/device/scan_help.cuh>

namespace lookback::device {

inline constexpr int group_tiles = 256;
inline constexpr int chunk_tiles = arch::warp_lanes;
inline constexpr int group_chunks = group_tiles / chunk_tiles;

/// What the warps of a block tell each other.
template <class P, class T>
struct scan_shared {
    T warp_totals[P::warps];
    T warps_before[P::warps];    ///< [w]: the combination of warps 0 to w - 1
    T before;                    ///< window walk: all earlier tiles; group walk: all earlier groups
    T chunks[group_chunks + 1];  ///< group walk: 32 tiles each; last: the whole last chunk
    std::uint32_t displaced;
    tile::arrival arrival;
};

template <class T>
using scan_window = tile::warp_window<core::tagged_codec<T>, tile::device_access>;

template <class T>
__device__ __forceinline__ std::uint32_t tell(core::slot_array slots, index_t slot,
                                              std::uint32_t epoch, core::tile_state state,
                                              const T& value) {
    return static_cast<std::uint32_t>(core::publish<core::tagged_codec<T>, tile::device_access>(
        slots, slot, epoch, state, value));
}

/// Combines what precedes each warp inside the tile; by warp 1, while warp 0 looks back. Visible
/// after the next barrier.
template <class P, class T, class Op>
__device__ __forceinline__ void combine_warps(scan_shared<P, T>& shared, Op op) {
    const int warp = static_cast<int>(threadIdx.x) - arch::warp_lanes;
    if (warp < 1 || warp >= P::warps) return;
    shared.warps_before[warp] = fold(shared.warp_totals, warp, op);
}

/// Warp 0 publishes and walks; the others go on with `meanwhile`. Ends with a barrier, after which
/// every thread gets what precedes the tile.
template <class P, class T, class Op, class Meanwhile>
__device__ __forceinline__ preceding<T, Op> walk_windows(const scan_arguments<T>& args,
                                                         const scan_channel& channel, index_t tile,
                                                         scan_shared<P, T>& shared, Op op,
                                                         Meanwhile meanwhile) {
    if (arch::warp() == 0) {
        const T total = fold(shared.warp_totals, P::warps, op);
        std::uint32_t displaced = 0;
        T before{};
        if (arch::lane() == 0) {
            displaced =
                tell(channel.tiles, tile, channel.epoch,
                     tile == 0 ? core::tile_state::prefix : core::tile_state::aggregate, total);
        }
        if (tile > 0) {
            tile_waiter<P, T, Op> waiter{args, channel, tile, op};
            before = core::exclusive_prefix<scan_window<T>>(channel.tiles, tile, channel.epoch, op,
                                                            waiter);
            if (arch::lane() == 0) {
                tell(channel.tiles, tile, channel.epoch, core::tile_state::prefix,
                     op(before, total));
            }
        }
        if (arch::lane() == 0) {
            shared.before = before;
            shared.displaced = displaced;  // waits for the exchange to have happened
        }
    }
    combine_warps(shared, op);
    meanwhile();
    __syncthreads();  // before and warps_before are written
    preceding<T, Op> base = preceding<T, Op>::nothing();
    if (args.has_init) base = {args.init, true};
    return tile > 0 ? base.then(shared.before, op) : base;
}

/// Waits for what precedes a group; a late one is built from the tiles of the groups before.
template <class P, class T, class Op>
struct group_waiter {
    const tile_waiter<P, T, Op>& tiles;

    __device__ __forceinline__ void stalled(index_t group, std::uint32_t polls) const {
        count_event(tiles.channel, &scan_counters::polls);
        if constexpr (P::order == tuning::tile_order::block) {
            if (polls >= polls_before_help * 4) help(group);
        }
    }

private:
    __device__ __forceinline__ void help(index_t group) const {
        using codec = core::tagged_codec<T>;
        const scan_channel& channel = tiles.channel;
        const Op op = tiles.op;
        preceding<T, Op> before = preceding<T, Op>::nothing();
        if (tiles.args.has_init) before = {tiles.args.init, true};
        index_t known = group - 1;
        for (; known > 0; --known) {
            const auto message =
                core::poll<codec, tile::device_access>(channel.groups, known, channel.epoch);
            // One lane's reading counts: lanes may see a word at different moments.
            if (arch::shuffle(static_cast<std::uint32_t>(message.state), 0) == 0) continue;
            before = {arch::shuffle(message.value, 0), true};
            break;
        }
        for (; known < group; ++known) {
            T total{};
            for (int chunk = 0; chunk < group_chunks; ++chunk) {
                const index_t begin = known * group_tiles + chunk * chunk_tiles;
                const T part = core::range_total<scan_window<T>>(
                    channel.tiles, begin, begin + chunk_tiles, channel.epoch, op, tiles);
                total = chunk == 0 ? part : op(total, part);
            }
            // Without an init the first group's total stands alone, as its owner publishes it.
            const bool alone = known == 0 && !tiles.args.has_init;
            before = alone ? preceding<T, Op>{total, true} : before.then(total, op);
            if (arch::lane() == 0) {
                core::install<codec, tile::device_access>(channel.groups, known + 1, channel.epoch,
                                                          before.value);
            }
            __syncwarp();
        }
        count_event(tiles.channel, &scan_counters::fallbacks);
    }
};

/// Each warp reads a chunk of the group; the last tile of a group tells the next one its prefix.
template <class P, class T, class Op, class Meanwhile>
__device__ __forceinline__ preceding<T, Op> read_group(const scan_arguments<T>& args,
                                                       const scan_channel& channel, index_t tile,
                                                       scan_shared<P, T>& shared, Op op,
                                                       Meanwhile meanwhile) {
    const index_t group = tile / group_tiles;
    const index_t group_begin = group * group_tiles;
    const int warp = arch::warp();
    const bool ends_group = tile % group_tiles == group_tiles - 1 && tile + 1 < args.tiles;
    if (threadIdx.x == 0) {
        shared.displaced = tell(channel.tiles, tile, channel.epoch, core::tile_state::aggregate,
                                fold(shared.warp_totals, P::warps, op));
    }
    combine_warps(shared, op);
    meanwhile();
    const tile_waiter<P, T, Op> waiter{args, channel, tile, op};
    const auto read = [&](int slot, index_t begin, index_t end) {
        const T part =
            core::range_total<scan_window<T>>(channel.tiles, begin, end, channel.epoch, op, waiter);
        if (arch::lane() == 0) shared.chunks[slot] = part;
    };
    for (index_t begin = group_begin + warp * chunk_tiles; begin < tile;
         begin += P::warps * chunk_tiles) {
        const index_t end = begin + chunk_tiles < tile ? begin + chunk_tiles : tile;
        read(static_cast<int>(begin - group_begin) / chunk_tiles, begin, end);
    }
    if (ends_group && warp == 0) read(group_chunks, tile + 1 - chunk_tiles, tile + 1);
    if (group > 0 && warp == P::warps - 1) {
        const group_waiter<P, T, Op> patience{waiter};
        const T before = core::range_total<scan_window<T>>(channel.groups, group, group + 1,
                                                           channel.epoch, op, patience);
        if (arch::lane() == 0) shared.before = before;
    }
    __syncthreads();  // chunks, before and warps_before are written
    preceding<T, Op> base = preceding<T, Op>::nothing();
    if (args.has_init) base = {args.init, true};
    if (group > 0) base = {shared.before, true};
    const int chunks = static_cast<int>(tile - group_begin + chunk_tiles - 1) / chunk_tiles;
    if (ends_group && threadIdx.x == 0) {
        const T total = op(fold(shared.chunks, group_chunks - 1, op), shared.chunks[group_chunks]);
        const bool alone = group == 0 && !args.has_init;
        tell(channel.groups, group + 1, channel.epoch, core::tile_state::prefix,
             alone ? total : base.before(total, op));
    }
    return chunks > 0 ? base.then(fold(shared.chunks, chunks, op), op) : base;
}

}  // namespace lookback::device
