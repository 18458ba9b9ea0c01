// Level L5 (device): mark sources: what tells a compaction which rows pass.
// Invariant: the same rows always get the same marks: a waiting warp marks the rows of a late tile
// once more, and must count what their owner counts.
#pragma once

#include <lookback/kernels/arch/lane.cuh>
#include <lookback/kernels/core/key_order.hpp>
#include <lookback/kernels/tile/lane_vector.cuh>

#include <concepts>

namespace lookback::device {

using core::index_t;

/// The neighbouring rows of one lane: rows first, first + 1, ...; those from `left` on (left may be
/// 0 or less) do not exist. Lane l + 1 of a warp holds the rows behind those of lane l.
struct lane_place {
    index_t first;
    int left;
};

// A mark source is a trivially copyable type with one of these, called by all lanes of a warp
// together. Bit i of the answer is row first + i; bits from `left` on may be anything, but rows
// from `left` on must not be read. It reads nothing that the compaction writes, but for the rows
// that it is given.
//
//   __device__ std::uint32_t marks(lane_place place) const;
//       of 32 rows, which the source finds by their places; first is a multiple of 32. Lanes whose
//       left is 0 or less only take part.
//   template <class Row> __device__ std::uint32_t
//   marks(lane_place place, const tile::lane_vector<Row>& rows) const;
//       of the rows that move, which are loaded anyway; rows from `left` on may be anything
//   template <class Row> __device__ std::uint32_t
//   marks(lane_place place, const tile::lane_vector<Row>& rows,
//         const tile::lane_vector<Row>* before) const;
//       the same; lane l's rows of *before precede those of lane 0 by 32 - l times their number;
//       null where the warp holds no earlier rows
//
// It may also have
//   template <class Body> __device__ void with_fastest(bool whole, Body body) const;
//       body(source) once, with a source for the case at hand: so that questions that have one
//       answer for a whole tile (alignment, format) are no branches between its loads. `whole`:
//       every `left` of the tile is 32 or 0.

template <class Source>
concept marks_places = requires(const Source source, lane_place place) {
    { source.marks(place) } -> std::same_as<std::uint32_t>;
};
template <class Source, class Vector>
concept marks_rows = requires(const Source source, lane_place place, const Vector& rows) {
    { source.marks(place, rows) } -> std::same_as<std::uint32_t>;
};
template <class Source, class Vector>
concept marks_neighbours = requires(const Source source, lane_place place, const Vector& rows) {
    { source.marks(place, rows, &rows) } -> std::same_as<std::uint32_t>;
};

/// Bit i: byte i is not 0.
__device__ __forceinline__ std::uint32_t set_bytes(std::uint32_t word) {
    constexpr std::uint32_t low = 0x7f7f7f7f;
    const std::uint32_t ones = ((((word & low) + low) | word) & ~low) >> 7;
    return ones * 0x01020408U >> 24;  // bits 0, 8, 16, 24 to 24, 25, 26, 27
}

/// One byte a row, all but 0 pass: flags that are 16-byte aligned, in tiles that are whole.
struct aligned_byte_flags {
    const std::uint8_t* flags;

    __device__ __forceinline__ std::uint32_t marks(lane_place place) const {
        if (place.left <= 0) return 0;
        const auto* from = reinterpret_cast<const uint4*>(flags + place.first);
        return half(from[0]) | half(from[1]) << 16;
    }

private:
    __device__ __forceinline__ static std::uint32_t half(const uint4& flags) {
        return set_bytes(flags.x) | set_bytes(flags.y) << 4 | set_bytes(flags.z) << 8 |
               set_bytes(flags.w) << 12;
    }
};

/// The same at any address, in any tile.
struct byte_flags {
    const std::uint8_t* flags;

    __device__ __forceinline__ std::uint32_t marks(lane_place place) const {
        std::uint32_t bits = 0;
#pragma unroll
        for (int row = 0; row < 32; ++row) {
            if (row < place.left && flags[place.first + row] != 0) bits |= 1U << row;
        }
        return bits;
    }
    template <class Body>
    __device__ __forceinline__ void with_fastest(bool whole, Body body) const {
        if (whole && reinterpret_cast<std::uintptr_t>(flags) % 16 == 0) {
            body(aligned_byte_flags{flags});
        } else {
            body(*this);
        }
    }
};

/// One bit a row, from the lowest of each word; what stands behind the last row is ignored.
struct bit_flags {
    const std::uint32_t* words;

    __device__ __forceinline__ std::uint32_t marks(lane_place place) const {
        return place.left > 0 ? words[place.first / 32] : 0;
    }
};

/// Either, chosen at run time: one kernel for both.
struct memory_flags {
    const void* data;
    bool bits;

    __device__ __forceinline__ std::uint32_t marks(lane_place place) const {
        return bits ? as_bits().marks(place) : as_bytes().marks(place);
    }
    template <class Body>
    __device__ __forceinline__ void with_fastest(bool whole, Body body) const {
        if (bits) {
            body(as_bits());
        } else {
            as_bytes().with_fastest(whole, body);
        }
    }

private:
    __device__ bit_flags as_bits() const { return {static_cast<const std::uint32_t*>(data)}; }
    __device__ byte_flags as_bytes() const { return {static_cast<const std::uint8_t*>(data)}; }
};

/// Rows whose number under a key order lies in [low, low + span]: every comparison with a value.
template <class Bits>
struct rows_in_range {
    core::key_order<Bits> order;
    Bits low;
    Bits span;

    __device__ __forceinline__ std::uint32_t marks(lane_place /*place*/,
                                                   const tile::lane_vector<Bits>& rows) const {
        std::uint32_t bits = 0;
#pragma unroll
        for (int i = 0; i < tile::lane_vector<Bits>::items; ++i) {
            const Bits above = static_cast<Bits>(order(rows.get(i)) - low);
            bits |= (above <= span ? 1U : 0U) << i;
        }
        return bits;
    }
};

/// Rows that differ from the one before them under a key order; the first of all does.
template <class Bits>
struct rows_that_differ {
    core::key_order<Bits> order;
    const Bits* in;  ///< the rows themselves: a warp's first has its neighbour elsewhere

    __device__ __forceinline__ std::uint32_t marks(lane_place place,
                                                   const tile::lane_vector<Bits>& rows,
                                                   const tile::lane_vector<Bits>* before) const {
        constexpr int items = tile::lane_vector<Bits>::items;
        Bits last = arch::shuffle_up(rows.get(items - 1), 1);
        if (before != nullptr) {
            const Bits edge = arch::shuffle(before->get(items - 1), arch::warp_lanes - 1);
            if (arch::lane() == 0) last = edge;
        } else if (arch::lane() == 0 && place.first > 0 && place.left > 0) {
            last = in[place.first - 1];
        }
        Bits number_before = order(last);
        std::uint32_t bits = 0;
#pragma unroll
        for (int i = 0; i < items; ++i) {
            const Bits number = order(rows.get(i));
            bits |= (number != number_before ? 1U : 0U) << i;
            number_before = number;
        }
        return place.first == 0 ? bits | 1U : bits;
    }
};

/// Rows for which a predicate of the caller's is true.
template <class Predicate>
struct rows_that {
    Predicate passes;

    template <class Row>
    __device__ __forceinline__ std::uint32_t marks(lane_place place,
                                                   const tile::lane_vector<Row>& rows) const {
        std::uint32_t bits = 0;
#pragma unroll
        for (int i = 0; i < tile::lane_vector<Row>::items; ++i) {
            // Rows from `left` on may be anything: no user's predicate sees them.
            if (i < place.left && passes(rows.get(i))) bits |= 1U << i;
        }
        return bits;
    }
};

}  // namespace lookback::device
