// CPU backend: compaction over its own input, by way of a tile's scratch.
// Invariant: a tile has read all of its rows before any later tile writes.
#pragma once

#include "cpu/compact.hpp"
#include "cpu/compact_lanes.hpp"
#include "cpu/compact_tiles.hpp"

#include <vector>

namespace lookback::cpu {

class compact_in_place {
public:
    compact_in_place(compact_tiles& tiles, const block_marker& mark,
                     std::span<const compact_column> columns, const compact_room& room);

    /// Bytes that work() needs for itself.
    std::size_t scratch_bytes() const;
    /// What one thread does.
    void work(std::byte* scratch);

private:
    std::size_t stage_tile(std::size_t tile, std::byte* scratch) const;
    void stage_block(std::size_t first, std::size_t rows, const std::uint64_t* words,
                     std::size_t kept_earlier, std::size_t rest_earlier, std::byte* stage) const;
    void write_tile(std::size_t tile, std::size_t before, std::size_t kept,
                    const std::byte* stage) const;

    compact_tiles& tiles_;
    const block_marker& mark_;
    std::span<const compact_column> columns_;
    compact_room room_;
    compact_lanes lanes_;
    std::vector<compact_lanes::compress> compress_;
};

}  // namespace lookback::cpu
