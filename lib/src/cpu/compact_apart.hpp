// CPU backend: compaction to elsewhere. Each tile is counted first and moved straight to its place
// afterwards, out of L2.
// Invariant: the memory is read once and written once, in whole lines: while a tile is moved the
// next one is marked, block by block, so that it reads and writes at the same time.
#pragma once

#include "cpu/compact.hpp"
#include "cpu/compact_lanes.hpp"
#include "cpu/compact_tiles.hpp"
#include "cpu/line_writer.hpp"

#include <vector>

namespace lookback::cpu {

class compact_apart {
public:
    struct plan {
        std::size_t workers;
        bool stream;  ///< past the caches
    };
    compact_apart(compact_tiles& tiles, const block_marker& mark,
                  std::span<const compact_column> columns, const compact_room& room,
                  const plan& how);

    /// Bytes that work() needs for itself.
    std::size_t scratch_bytes() const;
    /// What one thread does.
    void work(std::byte* scratch);

private:
    /// One side of one column.
    struct side {
        const compact_column* column;
        bool rest;
        compact_lanes::compress compress;
    };
    /// A side's rows of one tile on their way out.
    struct outlet {
        line_writer writer;
        std::size_t left_bytes;  ///< that there is room for
    };
    /// Tiles that a thread has before it: one to mark, and the next, if it is known already.
    struct claim {
        std::size_t tile;
        std::size_t next;
    };
    /// A tile whose rows can be moved.
    struct marked_tile {
        std::size_t begin = 0;
        std::size_t rows = 0;
        std::size_t kept = 0;
        std::size_t before = 0;  ///< rows kept of earlier tiles
        const std::uint64_t* words = nullptr;
    };

    claim claim_from(std::size_t tile) const;
    std::vector<outlet> make_outlets(std::byte* scratch) const;
    /// Marks the tile that is claimed and moves another meanwhile; returns how many rows pass.
    std::size_t step(const claim& claimed, std::uint64_t* words, const marked_tile& moved,
                     std::vector<outlet>& outlets) const;
    void begin_moving(const marked_tile& tile, std::vector<outlet>& outlets) const;
    void move_block(const marked_tile& tile, std::size_t row, std::size_t rows,
                    const claim& claimed, std::vector<outlet>& outlets) const;
    void prefetch(const claim& claimed, std::size_t row, std::size_t rows) const;
    /// What this thread reads of a column ahead_bytes after row `row` of the tile that is claimed;
    /// null where that is nothing.
    const std::byte* ahead(const compact_column& column, const claim& claimed,
                           std::size_t row) const;

    compact_tiles& tiles_;
    const block_marker& mark_;
    std::span<const compact_column> columns_;
    compact_room room_;
    compact_lanes lanes_;
    std::vector<side> sides_;
    std::size_t block_rows_;
    bool two_tickets_;  // where tiles are few, the second would be another thread's only one
    bool stream_;
};

}  // namespace lookback::cpu
