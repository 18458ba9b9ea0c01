// Level L5 (device): the kernel of a stable compaction: each block marks a tile, tells how many of
// its rows pass, stages them, learns how many precede them, and writes them out. Each row is read
// once, and written once if it is wanted.
// Invariant: in place, a tile is published once all its rows are read, and by its own block alone:
// who knows what precedes it knows that all earlier tiles may be overwritten.
// Progress depends on no order of dispatch: late tiles are helped or, in place, taken by ticket.
// Source: Merrill and Garland (2016), 5; Smith, Levien, Owens (2025).
#pragma once

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/device/compact_tile.cuh>
#include <lookback/kernels/device/scan_workspace.cuh>

namespace lookback::device {

/// How many rows pass: of one group of tiles in 32 bits, which travel in one word.
template <class P>
using row_count =
    std::conditional_t<P::walk == tuning::scan_walk::group, std::uint32_t, std::uint64_t>;

/// What the warps of a block tell each other.
template <class P>
struct compact_shared {
    std::uint32_t warp_totals[P::warps];
    row_count<P> before[P::warps];  ///< window walk: [0]; group walk: what each warp read
    tile::arrival arrival;
};

/// One row of a warp at a time, as helpers count.
struct one_row {
    static constexpr int rows = 1;
};

/// How many rows of a tile pass; by one warp. A tile that others wait for is not the last one, so
/// it is whole.
template <class P, class Rows, class Source>
__device__ __forceinline__ row_count<P> count_tile(const compact_arguments<Rows>& args,
                                                   index_t tile, const Source& source) {
    using geometry = compact_geometry<P, Rows::items>;
    const index_t begin = tile * geometry::tile_items;
    std::uint32_t count = 0;
    if constexpr (looks_at_rows<Source, Rows>) {
        typename Rows::held before{};
#pragma unroll 1
        for (int row = 0; row < P::warps * P::rows; ++row) {
            const lane_place place{begin + geometry::first(0, row), Rows::items};
            const typename Rows::held rows = args.rows.load(place, false);
            lane_marks<one_row, Rows::items> marks;
            marks.set(
                0, marks_of<Rows>(source, place, rows, row > 0 ? &before : nullptr) ^ args.invert,
                Rows::items);
            count += marks.warp_total();
            before = rows;
        }
    } else {
        constexpr int words = geometry::tile_items / 32;
#pragma unroll 1
        for (int first = 0; first < words; first += arch::warp_lanes) {
            const int word = first + arch::lane();
            const int left = word < words ? 32 : 0;
            const std::uint32_t bits = source.marks({begin + 32 * word, left}) ^ args.invert;
            count += arch::sum(left > 0 ? static_cast<std::uint32_t>(arch::bit_count(bits)) : 0U);
        }
    }
    return count;
}

/// The waiter of core/lookback.hpp; used by a whole warp.
template <class P, class Rows, class Source>
struct compact_waiter {
    const compact_arguments<Rows>& args;
    const scan_channel& channel;
    index_t tile;  ///< the one that waits
    const Source& source;

    __device__ __forceinline__ void stalled(index_t late, std::uint32_t polls) const {
        count_event(channel, &scan_counters::polls);
        if (args.in_place) return;  // its rows might be overwritten; tiles are taken by ticket
        help_when_due<row_count<P>>(channel, tile, late, polls, [&](index_t missing) {
            return count_tile<P>(args, missing, source);
        });
    }
};

/// How many rows that pass precede the tile; by a whole block, which meets at a barrier in it.
template <class P, class Waiter>
__device__ __forceinline__ row_count<P> rows_before(const scan_channel& channel, index_t tile,
                                                    row_count<P> total, bool in_place,
                                                    const Waiter& waiter,
                                                    compact_shared<P>& shared) {
    using window = scan_window<row_count<P>>;
    constexpr bool by_group = P::walk == tuning::scan_walk::group;
    const int warp = arch::warp();
    row_count<P> before = 0;
    if constexpr (by_group) {
        for (index_t begin = warp * chunk_tiles; begin < tile; begin += P::warps * chunk_tiles) {
            const index_t end = begin + chunk_tiles < tile ? begin + chunk_tiles : tile;
            before += core::range_total<window>(channel.tiles, begin, end, channel.epoch,
                                                core::plus{}, waiter);
        }
    } else if (warp == 0 && tile > 0) {
        before = core::exclusive_prefix<window>(channel.tiles, tile, channel.epoch, core::plus{},
                                                waiter);
        if (arch::lane() == 0) {
            tell(channel.tiles, tile, channel.epoch, core::tile_state::prefix, before + total);
        }
    }
    // In place: what is written from here on comes after what earlier tiles read.
    if (in_place) arch::fence();
    if (arch::lane() == 0 && (by_group || warp == 0)) shared.before[warp] = before;
    __syncthreads();  // rows are staged, before is written
    before = shared.before[0];
    if constexpr (by_group) {
#pragma unroll
        for (int other = 1; other < P::warps; ++other) before += shared.before[other];
    }
    return before;
}

/// Tells later tiles how many rows of this one pass; by one thread.
template <class P>
__device__ __forceinline__ void tell_count(const scan_channel& channel, index_t tile, int total,
                                           bool in_place) {
    // In place: whoever sees the tile told may write over its rows, which all threads have read
    // before their own fences and the last barrier.
    if (in_place) arch::fence();
    const bool first = tile == 0 && P::walk == tuning::scan_walk::window;
    tell(channel.tiles, tile, channel.epoch,
         first ? core::tile_state::prefix : core::tile_state::aggregate,
         static_cast<row_count<P>>(total));
}

/// Compacts the tile whose rows are loaded; called by a whole block, one thread of which has
/// written shared.arrival, unless there is no other tile.
template <class P, class Rows, class Source>
__device__ __forceinline__ void compact_loaded_tile(const compact_arguments<Rows>& args,
                                                    scan_channel channel, index_t tile,
                                                    compact_tile<P, Rows>& own,
                                                    const Source& source,
                                                    compact_shared<P>& shared) {
    constexpr bool stages = !std::is_same_v<Rows, marks_alone>;
    auto* staged = static_cast<typename Rows::staged*>(arch::dynamic_shared());
    own.mark(args, tile, source);
    if (args.in_place) arch::fence();  // the tile's rows are read
    const int warp = arch::warp();
    const std::uint32_t warp_total = own.marks.warp_total();
    if (arch::lane() == 0) shared.warp_totals[warp] = warp_total;
    __syncthreads();  // warp totals and the arrival are written
    channel.epoch = shared.arrival.epoch;
    int base = 0;
    int total = 0;
#pragma unroll
    for (int other = 0; other < P::warps; ++other) {
        if (other == warp) base = total;
        total += static_cast<int>(shared.warp_totals[other]);
    }
    const bool alone = args.tiles == 1;
    if (!alone && threadIdx.x == 0) tell_count<P>(channel, tile, total, args.in_place);
    if constexpr (stages) own.stage(args, tile, base, total, staged);
    index_t before = 0;
    if (alone) {
        __syncthreads();  // rows are staged
    } else {
        before = static_cast<index_t>(
            rows_before(channel, tile, static_cast<row_count<P>>(total), args.in_place,
                        compact_waiter<P, Rows, Source>{args, channel, tile, source}, shared));
    }
    if (tile == args.tiles - 1 && threadIdx.x == 0 && args.count != nullptr) {
        *args.count = before + total;
    }
    if constexpr (stages) {
        own.write(args, tile, before, total, staged);
    } else {
        own.write_marks(args, tile, before + base);
    }
}

template <class P, class Rows, class Source>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    lookback_compact(const compact_arguments<Rows> args, const scan_words words,
                     const Source source) {
    __shared__ compact_shared<P> shared;
    const bool arrives = threadIdx.x == 0 && args.tiles > 1;
    const auto arrive = [&] {
        const index_t used = slots_of(args.tiles) * words.stride;
        shared.arrival = tile::arrive(words.shared, gridDim.x, used);
    };
    index_t tile = arch::block_number();
    if (args.in_place && args.tiles > 1) {
        if (arrives) arrive();
        __syncthreads();  // the ticket is written
        tile = shared.arrival.order;
    }
    compact_tile<P, Rows> own;
    own.load(args, tile, source);
    if (!args.in_place && arrives) arrive();
    compact_loaded_tile(args, words.channel(args.tiles), tile, own, source, shared);
}

/// Moves the rows of a column by marks and offsets that marks_alone wrote.
template <class P, class Rows>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    move_marked(const compact_arguments<Rows> args, const bit_flags source,
                const index_t* offsets) {
    using geometry = compact_geometry<P, Rows::items>;
    static_assert(geometry::tile_items % tuning::offset_rows == 0);
    __shared__ std::uint32_t warp_totals[P::warps];
    auto* staged = static_cast<typename Rows::staged*>(arch::dynamic_shared());
    const index_t tile = arch::block_number();
    compact_tile<P, Rows> own;
    own.load(args, tile, source);
    own.mark(args, tile, source);
    const int warp = arch::warp();
    const std::uint32_t warp_total = own.marks.warp_total();
    if (arch::lane() == 0) warp_totals[warp] = warp_total;
    const index_t before = offsets[tile * (geometry::tile_items / tuning::offset_rows)];
    __syncthreads();  // warp totals are written
    int base = 0;
    int total = 0;
#pragma unroll
    for (int other = 0; other < P::warps; ++other) {
        if (other == warp) base = total;
        total += static_cast<int>(warp_totals[other]);
    }
    own.stage(args, tile, base, total, staged);
    __syncthreads();  // rows are staged
    own.write(args, tile, before, total, staged);
}

}  // namespace lookback::device
