// CPU backend: what the ways of compaction (compact.hpp) do with one column's rows.
#pragma once

#include "cpu/compact.hpp"

#include <cstring>
#include <numeric>

namespace lookback::cpu {

/// Bytes a row that the columns write, at most.
inline std::size_t moved_bytes(std::span<const compact_column> columns) {
    std::size_t bytes = 0;
    for (const compact_column& column : columns) {
        bytes += column.row_bytes * ((column.kept != nullptr) + (column.rest != nullptr));
    }
    return bytes;
}

inline std::size_t compact_tile_rows(std::size_t row_bytes, const compact_limits& limits) {
    const std::size_t rows = limits.tile_bytes / std::max<std::size_t>(row_bytes, 4);
    return std::max<std::size_t>(rows / 64, 1) * 64;
}

/// How many of `rows` rows fit from row `at` on.
inline std::size_t fitting_rows(std::size_t rows, std::size_t at, std::size_t room) {
    return std::min(rows, room - std::min(at, room));
}

/// The rows' own numbers, as rows of 4 or 8 bytes.
inline const std::byte* number_rows(std::size_t first, std::size_t count, std::size_t bytes,
                                    std::uint64_t* numbers) {
    if (bytes == 8) {
        std::iota(numbers, numbers + count, std::uint64_t{first});
    } else {
        auto* narrow = reinterpret_cast<std::uint32_t*>(numbers);
        std::iota(narrow, narrow + count, static_cast<std::uint32_t>(first));
    }
    return reinterpret_cast<const std::byte*>(numbers);
}

/// Asks for rows that will be read.
inline void prefetch_rows(const std::byte* rows, std::size_t bytes) {
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(rows + line, 0, 2);
}

}  // namespace lookback::cpu
