// CPU backend: stable compaction of rows by flags, over tiles in cache that look back.
// Invariant: a tile has read all of its rows before any later tile writes: that makes work in place
// safe. Nothing is written behind the last row that passes.
#pragma once

#include "cpu/compact_limits.hpp"
#include "cpu/executor.hpp"

#include <lookback/compact.hpp>

#include <span>

namespace lookback::cpu {

/// Gives the flags of rows [first, first + rows) as bits; `first` is a multiple of 64.
using block_marker = row_flags::marker;

/// One column of a compaction.
struct compact_column {
    const std::byte* in = nullptr;  ///< null: the rows' own numbers, of row_bytes 4 or 8
    std::size_t row_bytes = 0;
    std::byte* kept = nullptr;
    std::byte* rest = nullptr;
};

/// Moves the rows to kept and rest, no further than there is room; returns how many pass. kept may
/// be in; nothing else overlaps.
std::size_t compact(executor& threads, memory_resource& memory, std::size_t rows,
                    const block_marker& mark, std::span<const compact_column> columns,
                    const compact_room& room, const compact_limits& limits = {});

/// The flags of `flags`, as a marker; `flags` outlives it.
block_marker marker_of(const row_flags& flags);

/// in[i] OP value, and whether in[i] differs from in[i - 1], as markers.
template <class T>
block_marker compare_marker(const T* in, comparison op, T value);
template <class T>
block_marker heads_marker(const T* in);

/// flags[i] = 0 or 1.
void bytes_of(executor& threads, std::size_t rows, const block_marker& mark, std::uint8_t* flags);

/// out[offsets[i]] = in[i] where flags[i] != 0.
void scatter(executor& threads, std::span<const std::uint8_t> flags, const std::int64_t* offsets,
             const std::byte* in, std::size_t row_bytes, std::byte* out);

}  // namespace lookback::cpu
