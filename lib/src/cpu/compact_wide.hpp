// CPU backend: compaction of rows of several KiB: each run of them is a copy of its own.
// Invariant: in place, one thread does all tiles: it moves rows over those of earlier tiles.
#pragma once

#include "cpu/compact.hpp"
#include "cpu/compact_lanes.hpp"
#include "cpu/compact_tiles.hpp"

namespace lookback::cpu {

class compact_wide {
public:
    compact_wide(compact_tiles& tiles, const block_marker& mark,
                 std::span<const compact_column> columns, const compact_room& room)
        : tiles_(tiles),
          mark_(mark),
          columns_(columns),
          room_(room),
          lanes_(find_compact_lanes()) {}

    /// Bytes that work() needs for itself.
    std::size_t scratch_bytes() const {
        return words_of(tiles_.most_rows()) * sizeof(std::uint64_t);
    }
    /// What one thread does.
    void work(std::byte* scratch);

private:
    void move_tile(std::size_t tile, std::size_t before, const std::uint64_t* words) const;
    void move_run(bool keep, std::size_t row, std::size_t rows, std::size_t at) const;

    compact_tiles& tiles_;
    const block_marker& mark_;
    std::span<const compact_column> columns_;
    compact_room room_;
    compact_lanes lanes_;
};

}  // namespace lookback::cpu
