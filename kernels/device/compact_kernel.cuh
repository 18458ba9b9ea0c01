// Level L5 (device): the kernel of a stable compaction: each block marks a tile, tells how many of
// its rows pass, stages them, learns how many precede them, and writes them out. Each row is read
// once, and written once if it is wanted.
// Invariant: in place, a tile is published once all its rows are in registers or staged, and by its
// own block alone: who knows what precedes it knows that all earlier tiles may be overwritten.
// Progress depends on no order of dispatch: late tiles are helped or, in place, taken by ticket.
// Source: Merrill and Garland (2016), 5; Smith, Levien, Owens (2025).
#pragma once

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/device/compact_rows.cuh>
#include <lookback/kernels/device/scan_workspace.cuh>

namespace lookback::device {

template <class Rows>
struct compact_arguments {
    Rows rows;
    index_t items;
    index_t tiles;
    index_t kept_room;  ///< the outputs take their first so many rows
    index_t rest_room;
    std::uint32_t invert;  ///< all bits: rows without a mark pass
    bool in_place;         ///< `kept` is where the rows are
    index_t* count;        ///< how many pass; null: nobody asks
};

using row_count = std::uint64_t;
using count_window = scan_window<row_count>;

/// What the warps of a block tell each other.
template <class P>
struct compact_shared {
    std::uint32_t warp_totals[P::warps];
    row_count before[P::warps];  ///< window walk: [0]; group walk: what each warp read
    tile::arrival arrival;
};

/// Bytes of dynamic shared memory: the tile's rows, and a word that may be read behind them.
template <class P, class Rows>
inline constexpr std::size_t compact_shared_bytes =
    std::is_same_v<Rows, marks_alone>
        ? 0
        : compact_geometry<P, Rows::items>::tile_items * sizeof(typename Rows::staged) +
              (sizeof(typename Rows::staged) < 4 ? 16 : 0);

/// One tile: its rows in registers, and their marks.
template <class P, class Rows>
struct compact_tile {
    using geometry = compact_geometry<P, Rows::items>;
    using arguments = compact_arguments<Rows>;

    typename Rows::held rows[P::rows];
    lane_marks<P, Rows::items> marks;

    __device__ __forceinline__ static core::tile_shape shape(const arguments& args) {
        return {args.items, geometry::tile_items};
    }

    __device__ __forceinline__ void load(const arguments& args, index_t tile) {
        const auto size = static_cast<int>(shape(args).size(tile));
        const index_t begin = tile * geometry::tile_items;
        const int warp = arch::warp();
        if (size == geometry::tile_items && args.rows.loads_whole()) {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                const int first = geometry::first(warp, row);
                rows[row] = args.rows.load({begin + first, Rows::items}, true);
            }
        } else {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                const int first = geometry::first(warp, row);
                rows[row] = args.rows.load({begin + first, size - first}, false);
            }
        }
    }

    template <class Source>
    __device__ __forceinline__ void mark(const arguments& args, index_t tile,
                                         const Source& source) {
        const auto size = static_cast<int>(shape(args).size(tile));
        const bool whole = size == geometry::tile_items;
        with_fastest(source, whole, [&](const auto& fast) {
            if (whole) {
                mark_rows(args, tile, fast, [](int) { return Rows::items; });
            } else {
                mark_rows(args, tile, fast, [size](int first) { return size - first; });
            }
        });
    }

    /// Shared memory gets the rows that pass and, if they are wanted, behind them the others.
    __device__ __forceinline__ void stage(const arguments& args, index_t tile, int base, int total,
                                          typename Rows::staged* staged) const {
        const int warp = arch::warp();
        if (args.rows.wants(side::rest)) {
            const auto size = static_cast<int>(shape(args).size(tile));
            marks.for_rows(base, [&](int row, std::uint32_t bits, int rank) {
                const int first = geometry::first(warp, row);
#pragma unroll
                for (int i = 0; i < Rows::items; ++i) {
                    const bool kept = (bits >> i & 1) != 0;
                    const int at = first + i;
                    if (at < size) {
                        staged[kept ? rank : total + at - rank] = Rows::stage(rows[row], i, at);
                    }
                    rank += kept ? 1 : 0;
                }
            });
            return;
        }
        marks.for_rows(base, [&](int row, std::uint32_t bits, int rank) {
#pragma unroll
            for (int i = 0; i < Rows::items; ++i) {
                if ((bits >> i & 1) == 0) continue;
                staged[rank++] = Rows::stage(rows[row], i, geometry::first(warp, row) + i);
            }
        });
    }

    /// The staged rows, where `before` rows that pass precede the tile and `total` are its own.
    __device__ __forceinline__ static void write(const arguments& args, index_t tile,
                                                 index_t before, int total,
                                                 const typename Rows::staged* staged) {
        const index_t begin = tile * geometry::tile_items;
        if (args.rows.wants(side::kept)) {
            const int count = within(total, args.kept_room - before);
            args.rows.template write<P::threads>(side::kept, staged, count, before, begin);
        }
        if (args.rows.wants(side::rest)) {
            const index_t rest_before = begin - before;
            const auto size = static_cast<int>(shape(args).size(tile));
            const int count = within(size - total, args.rest_room - rest_before);
            write_rest(args, staged, total, count, rest_before, begin);
        }
    }

    /// The marks as words, and how many marked rows precede those of the warp.
    __device__ __forceinline__ void write_marks(const arguments& args, index_t tile,
                                                index_t before_warp) const {
        static_assert(P::rows * Rows::items * arch::warp_lanes == tuning::offset_rows);
        const index_t begin = tile * geometry::tile_items;
        const int warp = arch::warp();
        const index_t first = begin + geometry::first(warp, 0);
        if (args.rows.offsets != nullptr && arch::lane() == 0 && first < args.items) {
            args.rows.offsets[first / tuning::offset_rows] = before_warp;
        }
        if (args.rows.words == nullptr) return;
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const index_t place = begin + geometry::first(warp, row);
            if (place < args.items) args.rows.words[place / 32] = marks.row(row);
        }
    }

private:
    template <class Source, class Left>
    __device__ __forceinline__ void mark_rows(const arguments& args, index_t tile,
                                              const Source& source, Left left) {
        const index_t begin = tile * geometry::tile_items;
        const int warp = arch::warp();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const int first = geometry::first(warp, row);
            const lane_place place{begin + first, left(first)};
            const std::uint32_t bits =
                marks_of<Rows>(source, place, rows[row], row > 0 ? &rows[row - 1] : nullptr);
            marks.set(row, bits ^ args.invert, place.left);
        }
    }

    __device__ __forceinline__ static int within(int count, index_t room) {
        return room < count ? (room < 0 ? 0 : static_cast<int>(room)) : count;
    }

    __device__ __forceinline__ static void write_rest(const arguments& args,
                                                      const typename Rows::staged* staged,
                                                      int total, int count, index_t before,
                                                      index_t begin) {
        if constexpr (requires { args.rows.rest; }) {
            args.rows.template write<P::threads>(side::rest, staged + total, count, before, begin);
        }
    }
};

/// One row of a warp at a time, as helpers count.
struct one_row {
    static constexpr int rows = 1;
};

/// How many rows of a tile pass; by one warp. A tile that others wait for is not the last one, so
/// it is whole.
template <class P, class Rows, class Source>
__device__ __forceinline__ row_count count_tile(const compact_arguments<Rows>& args, index_t tile,
                                                const Source& source) {
    using geometry = compact_geometry<P, Rows::items>;
    const index_t begin = tile * geometry::tile_items;
    std::uint32_t count = 0;
    typename Rows::held before{};
#pragma unroll 1
    for (int row = 0; row < P::warps * P::rows; ++row) {
        const lane_place place{begin + geometry::first(0, row), Rows::items};
        typename Rows::held rows{};
        if constexpr (looks_at_rows<Source, Rows>) rows = args.rows.load(place, false);
        lane_marks<one_row, Rows::items> marks;
        marks.set(0, marks_of<Rows>(source, place, rows, row > 0 ? &before : nullptr) ^ args.invert,
                  Rows::items);
        count += marks.warp_total();
        before = rows;
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
        help_when_due<row_count>(channel, tile, late, polls, [&](index_t missing) {
            return count_tile<P>(args, missing, source);
        });
    }
};

/// How many rows that pass precede the tile; by a whole block, which meets at a barrier in it.
template <class P, class Waiter>
__device__ __forceinline__ row_count rows_before(const scan_channel& channel, index_t tile,
                                                 row_count total, bool in_place, Waiter waiter,
                                                 compact_shared<P>& shared) {
    constexpr bool by_group = P::walk == tuning::scan_walk::group;
    const int warp = arch::warp();
    row_count before = 0;
    if constexpr (by_group) {
        for (index_t begin = warp * chunk_tiles; begin < tile; begin += P::warps * chunk_tiles) {
            const index_t end = begin + chunk_tiles < tile ? begin + chunk_tiles : tile;
            before += core::range_total<count_window>(channel.tiles, begin, end, channel.epoch,
                                                      core::plus{}, waiter);
        }
    } else if (warp == 0 && tile > 0) {
        before = core::exclusive_prefix<count_window>(channel.tiles, tile, channel.epoch,
                                                      core::plus{}, waiter);
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

/// Compacts the tile whose rows are loaded; called by a whole block, one thread of which has
/// written shared.arrival.
template <class P, class Rows, class Source>
__device__ __forceinline__ void compact_loaded_tile(const compact_arguments<Rows>& args,
                                                    scan_channel channel, index_t tile,
                                                    compact_tile<P, Rows>& own,
                                                    const Source& source,
                                                    compact_shared<P>& shared) {
    auto* staged = static_cast<typename Rows::staged*>(arch::dynamic_shared());
    own.mark(args, tile, source);
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
    const auto publish = [&] {
        if (threadIdx.x != 0) return;
        const bool first = tile == 0 && P::walk == tuning::scan_walk::window;
        tell(channel.tiles, tile, channel.epoch,
             first ? core::tile_state::prefix : core::tile_state::aggregate,
             static_cast<row_count>(total));
    };
    constexpr bool stages = !std::is_same_v<Rows, marks_alone>;
    if (!args.in_place) publish();
    if constexpr (stages) own.stage(args, tile, base, total, staged);
    if (args.in_place) {
        __syncthreads();  // nobody reads the tile's rows any more
        arch::fence();    // ... and whoever sees the tile published may write over them
        publish();
    }
    const auto before = static_cast<index_t>(
        rows_before(channel, tile, static_cast<row_count>(total), args.in_place,
                    compact_waiter<P, Rows, Source>{args, channel, tile, source}, shared));
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
    const index_t used = slots_of(args.tiles) * words.stride;
    index_t tile = arch::block_number();
    if (args.in_place) {
        if (threadIdx.x == 0) shared.arrival = tile::arrive(words.shared, gridDim.x, used);
        __syncthreads();  // the ticket is written
        tile = shared.arrival.order;
    }
    compact_tile<P, Rows> own;
    own.load(args, tile);
    if (!args.in_place && threadIdx.x == 0) {
        shared.arrival = tile::arrive(words.shared, gridDim.x, used);
    }
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
    own.load(args, tile);
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
