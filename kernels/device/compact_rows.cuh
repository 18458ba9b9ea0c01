// Level L5 (device): what a compaction moves: rows of 1, 2, 4, 8 or 16 bytes, the numbers of the
// rows, or nothing but marks and counts. Invariant: rows keep their bits.
#pragma once

#include <lookback/kernels/device/compact_ranks.cuh>

namespace lookback::device {

// What moves is a trivially copyable type with
//   items                       neighbouring rows that a lane holds
//   held                        what it holds of them in registers
//   load(place, whole) -> held  `whole`: every row of the tile exists and may be loaded by vectors
//   staged                      what stands for a row in shared memory
//   stage(held, i, at)          row i of the lane, number `at` of its tile
//   write<Threads>(side, staged rows, begin, count, place in the output, first of the tile)
//                               writes those from number `begin` on
//   wants(side)                 whether there is such an output
//   loads_whole()               whether whole tiles may be loaded by vectors

/// Which rows an output takes.
enum class side { kept, rest };

/// Rows of `Row`'s size, from one array to another.
template <class Row>
struct moved_items {
    using held = tile::lane_vector<Row>;
    using staged = Row;
    static constexpr int items = held::items;

    const Row* in;
    Row* kept;
    Row* rest;  ///< null: not wanted

    __device__ __forceinline__ bool wants(side which) const {
        return (which == side::kept ? kept : rest) != nullptr;
    }
    __device__ __forceinline__ bool loads_whole() const {
        return reinterpret_cast<std::uintptr_t>(in) % 16 == 0;
    }
    __device__ __forceinline__ held load(lane_place place, bool whole) const {
        held rows{};
        if (whole) {
            rows.load(in + place.first);
        } else if (place.left > 0) {
            rows = tile::load_items(in + place.first, place.left);
        }
        return rows;
    }
    __device__ __forceinline__ static Row stage(const held& rows, int i, int /*at*/) {
        return rows.get(i);
    }
    template <int Threads>
    __device__ __forceinline__ void write(side which, const Row* staged, int begin, int count,
                                          index_t place, index_t /*tile_begin*/) const {
        copy_staged<Threads>(staged, begin, count, (which == side::kept ? kept : rest) + place);
    }
};

/// The numbers of the rows; they stand in shared memory as places in the tile.
template <class Index>
struct row_numbers {
    struct held {};
    using staged = std::uint16_t;
    static constexpr int items = 16;

    Index* kept;

    __device__ __forceinline__ bool wants(side which) const { return which == side::kept; }
    __device__ __forceinline__ static bool loads_whole() { return true; }
    __device__ __forceinline__ static held load(lane_place /*place*/, bool /*whole*/) { return {}; }
    __device__ __forceinline__ static std::uint16_t stage(held /*rows*/, int /*i*/, int at) {
        return static_cast<std::uint16_t>(at);
    }
    template <int Threads>
    __device__ __forceinline__ void write(side /*which*/, const std::uint16_t* staged, int begin,
                                          int count, index_t place, index_t tile_begin) const {
        const auto first = static_cast<Index>(tile_begin);
        write_lines<Threads>(count, kept + place, [=](int at) {
            return first + static_cast<Index>(staged[begin + at]);
        });
    }
};

/// Nothing but the marks as bits and, for every tuning::offset_rows rows, how many marked ones
/// precede them: what columns are moved by. Either may be null.
struct marks_alone {
    struct held {};
    using staged = std::uint32_t;
    static constexpr int items = 32;

    std::uint32_t* words;  ///< one for 32 rows
    index_t* offsets;

    __device__ __forceinline__ static bool wants(side /*which*/) { return false; }
    __device__ __forceinline__ static bool loads_whole() { return true; }
    __device__ __forceinline__ static held load(lane_place /*place*/, bool /*whole*/) { return {}; }
};

/// Whether a source looks at the rows that move.
template <class Source, class Rows>
inline constexpr bool looks_at_rows =
    marks_neighbours<Source, typename Rows::held> || marks_rows<Source, typename Rows::held>;

/// Marks of rows that a lane holds.
template <class Rows, class Source>
__device__ __forceinline__ std::uint32_t marks_of(const Source& source, lane_place place,
                                                  const typename Rows::held& rows,
                                                  const typename Rows::held* before) {
    if constexpr (marks_neighbours<Source, typename Rows::held>) {
        return source.marks(place, rows, before);
    } else {
        return source.marks(place, rows);
    }
}

/// body(source) with the form of the source that suits the tile.
template <class Source, class Body>
__device__ __forceinline__ void with_fastest(const Source& source, bool whole, Body body) {
    if constexpr (requires { source.with_fastest(whole, body); }) {
        source.with_fastest(whole, body);
    } else {
        body(source);
    }
}

}  // namespace lookback::device
