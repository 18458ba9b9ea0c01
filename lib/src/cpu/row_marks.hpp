// CPU backend: which rows pass, as bits: by flags, by a comparison, by a difference from the row
// before. Invariant: bit i % 64 of word i / 64 is row i's; bits behind the last row are 0.
#pragma once

#include "cpu/executor.hpp"

#include <lookback/compact.hpp>

#include <span>

namespace lookback::cpu {

/// Gives the flags of rows [first, first + rows) as bits; `first` is a multiple of 64.
using block_marker = row_flags::marker;

constexpr std::size_t words_of(std::size_t rows) {
    return (rows + 63) / 64;
}

/// The rows that do not pass.
void complement(std::uint64_t* words, std::size_t rows);

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
