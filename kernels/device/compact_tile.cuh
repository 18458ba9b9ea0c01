// Level L5 (device): one tile of a compaction: its rows in registers, their marks, the rows staged
// in shared memory and written out. Invariant: kept rows are staged from the beginning, the others
// behind them, each in their order.
// Source: Billeter, Olsson, Assarsson, "Efficient stream compaction" (2009).
#pragma once

#include <lookback/kernels/device/compact_rows.cuh>

#include <cstddef>
#include <type_traits>

namespace lookback::device {

/// What every block of a compaction is told.
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

    /// Flags are asked for before the rows that move: they are needed first, and a tile can be told
    /// while its rows are on their way.
    template <class Source>
    __device__ __forceinline__ void load(const arguments& args, index_t tile,
                                         const Source& source) {
        const auto size = static_cast<int>(shape(args).size(tile));
        const bool whole = size == geometry::tile_items;
        const auto some_left = [size](int first) { return size - first; };
        if constexpr (looks_at_rows<Source, Rows>) {
            if (whole && args.rows.loads_whole()) {
                load_rows(args, tile, true, [](int) { return Rows::items; });
            } else {
                load_rows(args, tile, false, some_left);
            }
        } else {
            static_assert(marks_places<Source>);
            with_fastest(source, whole, [&](const auto& fast) {
                if (whole && args.rows.loads_whole()) {
                    fetch_marks(args, tile, fast, [](int) { return 32; });
                    load_rows(args, tile, true, [](int) { return Rows::items; });
                } else {
                    fetch_marks(args, tile, fast, some_left);
                    load_rows(args, tile, false, some_left);
                }
            });
        }
    }

    template <class Source>
    __device__ __forceinline__ void mark(const arguments& args, index_t tile,
                                         const Source& source) {
        const auto size = static_cast<int>(shape(args).size(tile));
        if (size == geometry::tile_items) {
            mark_rows(args, tile, source, [](int) { return 32; });
        } else {
            mark_rows(args, tile, source, [size](int first) { return size - first; });
        }
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
            args.rows.template write<P::threads>(side::kept, staged, 0, count, before, begin);
        }
        if (args.rows.wants(side::rest)) {
            const index_t rest_before = begin - before;
            const auto size = static_cast<int>(shape(args).size(tile));
            const int count = within(size - total, args.rest_room - rest_before);
            args.rows.template write<P::threads>(side::rest, staged, total, count, rest_before,
                                                 begin);
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
    static constexpr int warp_words = geometry::warp_items / 32;
    std::uint32_t words_[core::ceil_div(warp_words, arch::warp_lanes)];

    template <class Left>
    __device__ __forceinline__ void load_rows(const arguments& args, index_t tile, bool whole,
                                              Left left) {
        const index_t begin = tile * geometry::tile_items;
        const int warp = arch::warp();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const int first = geometry::first(warp, row);
            rows[row] = args.rows.load({begin + first, left(first)}, whole);
        }
    }

    /// Every lane asks for the marks of 32 rows: a few wide loads fetch all flags of the warp.
    template <class Source, class Left>
    __device__ __forceinline__ void fetch_marks(const arguments& args, index_t tile,
                                                const Source& source, Left left) {
        const int warp_first = arch::warp() * geometry::warp_items;
        const index_t begin = tile * geometry::tile_items;
#pragma unroll
        for (int first = 0; first < warp_words; first += arch::warp_lanes) {
            const int word = first + arch::lane();
            const int place = warp_first + 32 * word;
            const bool needed = warp_words % arch::warp_lanes == 0 || word < warp_words;
            words_[first / arch::warp_lanes] =
                source.marks({begin + place, needed ? left(place) : 0}) ^ args.invert;
        }
    }

    /// Marks of the rows that the lane holds: by what is in them, or as some lane fetched them.
    template <class Source, class Left>
    __device__ __forceinline__ void mark_rows(const arguments& args, index_t tile,
                                              const Source& source, Left left) {
        const index_t begin = tile * geometry::tile_items;
        const int warp = arch::warp();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const int first = geometry::first(warp, row);
            std::uint32_t bits = 0;
            if constexpr (looks_at_rows<Source, Rows>) {
                bits = marks_of<Rows>(source, {begin + first, left(first)}, rows[row],
                                      row > 0 ? &rows[row - 1] : nullptr) ^
                       args.invert;
            } else {
                const int word = row * Rows::items;  // the row's first
                bits = words_[word / arch::warp_lanes];
                if constexpr (Rows::items < 32) {
                    const int shift = arch::lane() * Rows::items;
                    bits = arch::shuffle(bits, word % arch::warp_lanes + shift / 32) >> shift % 32;
                }
            }
            marks.set(row, bits, left(first));
        }
    }

    __device__ __forceinline__ static int within(int count, index_t room) {
        return room < count ? (room < 0 ? 0 : static_cast<int>(room)) : count;
    }
};

}  // namespace lookback::device
