// CPU backend: stable compaction of rows by flags, over tiles in cache that look back.
// Invariant: nothing is written behind the last row that passes. Three ways give the same rows:
// apart (compact_apart.hpp), in place, and rows so wide that each is a copy of its own.
#pragma once

#include "cpu/compact_limits.hpp"
#include "cpu/executor.hpp"
#include "cpu/row_marks.hpp"

#include <lookback/compact.hpp>

#include <span>

namespace lookback::cpu {

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

}  // namespace lookback::cpu
