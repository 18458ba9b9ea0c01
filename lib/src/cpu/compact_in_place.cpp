#include "cpu/compact_in_place.hpp"

#include "cpu/compact_rows.hpp"

#include <algorithm>
#include <cstring>

namespace lookback::cpu {
namespace {

// Rows that are marked and moved while they are in the first-level cache: 4 KiB of u32.
constexpr std::size_t staged_rows = 1024;

// u32, 512 MiB, half kept, two threads: asked for 4 KiB ahead 25 ms, 8 KiB 17, 16 KiB 18.
constexpr std::size_t staged_ahead_bytes = 8192;

}  // namespace

compact_in_place::compact_in_place(compact_tiles& tiles, const block_marker& mark,
                                   std::span<const compact_column> columns,
                                   const compact_room& room)
    : tiles_(tiles), mark_(mark), columns_(columns), room_(room), lanes_(find_compact_lanes()) {
    for (const compact_column& column : columns) {
        compress_.push_back(lanes_.compress_for(column.row_bytes));
    }
}

std::size_t compact_in_place::scratch_bytes() const {
    return tiles_.most_rows() * moved_bytes(columns_) + 2 * columns_.size() * compress_slack_bytes;
}

void compact_in_place::work(std::byte* scratch) {
    for (std::size_t tile = tiles_.take(); tile < tiles_.count(); tile = tiles_.take()) {
        try {
            const std::size_t kept = stage_tile(tile, scratch);
            tiles_.publish(tile, kept);
            const std::size_t before = tiles_.kept_before(tile, kept);
            if (!tiles_.failed()) write_tile(tile, before, kept, scratch);
        } catch (...) {
            tiles_.give_up(tile);
            throw;
        }
    }
}

std::size_t compact_in_place::stage_tile(std::size_t tile, std::byte* scratch) const {
    const std::size_t begin = tiles_.begin(tile);
    const std::size_t rows = tiles_.rows(tile);
    std::uint64_t words[words_of(staged_rows)];
    std::size_t kept = 0;
    for (std::size_t block = 0; block < rows; block += staged_rows) {
        const std::size_t count = std::min(staged_rows, rows - block);
        mark_(begin + block, count, words);
        stage_block(begin + block, count, words, kept, block - kept, scratch);
        kept += lanes_.count(words, words_of(count));
    }
    return kept;
}

void compact_in_place::stage_block(std::size_t first, std::size_t rows, const std::uint64_t* words,
                                   std::size_t kept_earlier, std::size_t rest_earlier,
                                   std::byte* stage) const {
    std::uint64_t others[words_of(staged_rows)];
    std::copy_n(words, words_of(rows), others);
    complement(others, rows);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const compact_column& column = columns_[c];
        const std::size_t bytes = column.row_bytes;
        std::uint64_t numbers[staged_rows];
        const std::byte* in = nullptr;
        if (column.in == nullptr) {
            in = number_rows(first, rows, bytes, numbers);
        } else {
            in = column.in + first * bytes;
            prefetch_rows(in + staged_ahead_bytes, rows * bytes);
        }
        for (const bool rest : {false, true}) {
            if ((rest ? column.rest : column.kept) == nullptr) continue;
            std::byte* const to = stage + (rest ? rest_earlier : kept_earlier) * bytes;
            compress_[c](in, rest ? others : words, rows, bytes, nullptr, to);
            stage += tiles_.most_rows() * bytes + compress_slack_bytes;
        }
    }
}

void compact_in_place::write_tile(std::size_t tile, std::size_t before, std::size_t kept,
                                  const std::byte* stage) const {
    const std::size_t begin = tiles_.begin(tile);
    const std::size_t rows = tiles_.rows(tile);
    // Rows that stand where they belong already; a neighbour may be reading the last of them.
    const bool stays = before == begin && kept == rows;
    for (const compact_column& column : columns_) {
        const std::size_t bytes = column.row_bytes;
        const std::size_t stage_bytes = tiles_.most_rows() * bytes + compress_slack_bytes;
        if (column.kept != nullptr) {
            const std::size_t fitting = fitting_rows(kept, before, room_.kept);
            if (fitting != 0 && !(stays && column.kept == column.in)) {
                std::memcpy(column.kept + before * bytes, stage, fitting * bytes);
            }
            stage += stage_bytes;
        }
        if (column.rest != nullptr) {
            const std::size_t fitting = fitting_rows(rows - kept, begin - before, room_.rest);
            if (fitting != 0) {
                std::memcpy(column.rest + (begin - before) * bytes, stage, fitting * bytes);
            }
            stage += stage_bytes;
        }
    }
}

}  // namespace lookback::cpu
