#include "cpu/compact_apart.hpp"

#include "cpu/compact_rows.hpp"

#include <algorithm>

namespace lookback::cpu {
namespace {

static_assert(compress_slack_bytes <= line_writer::line_bytes);

// Bytes that are marked, and moved, in turn. The same loop apart from the library, u32, 512 MiB,
// 10, 50 and 90 % kept, two threads: 256 bytes 29.5, 32.2 and 32.6 ms, 512 bytes 28.5, 31.1
// and 31.9, 2 KiB 28.1, 31.9 and 33.8: flat, so between them.
constexpr std::size_t block_bytes = 1024;
constexpr std::size_t most_block_rows = 1024;

// How far ahead the rows are asked for, also across the end of a tile: a thread's next tile does
// not lie behind this one, so that no hardware does it. As above, 10, 50 and 90 % kept: 2
// KiB 30.8, 33.0 and 32.8 ms, 4 KiB 28.9, 30.9 and 32.4, 8 KiB 28.5, 31.1 and 31.9, 32
// KiB 28.6, 30.8 and 32.8.
constexpr std::size_t ahead_bytes = 8192;

void copy_lines(const std::byte* lines, std::size_t bytes, std::byte* to, std::byte* carry) {
    std::memcpy(to, lines, bytes);
    std::memcpy(carry, lines + bytes, line_writer::line_bytes);
}

std::size_t rows_of_block(std::span<const compact_column> columns) {
    std::size_t widest = 1;
    for (const compact_column& column : columns) widest = std::max(widest, column.row_bytes);
    return std::clamp(block_bytes / widest / 64 * 64, std::size_t{64}, most_block_rows);
}

}  // namespace

compact_apart::compact_apart(compact_tiles& tiles, const block_marker& mark,
                             std::span<const compact_column> columns, const compact_room& room,
                             const plan& how)
    : tiles_(tiles),
      mark_(mark),
      columns_(columns),
      room_(room),
      lanes_(find_compact_lanes()),
      block_rows_(rows_of_block(columns)),
      two_tickets_(tiles.count() >= 4 * how.workers),
      stream_(how.stream) {
    for (const compact_column& column : columns) {
        const auto compress = lanes_.compress_for(column.row_bytes);
        if (column.kept != nullptr) sides_.push_back({&column, false, compress});
        if (column.rest != nullptr) sides_.push_back({&column, true, compress});
    }
}

std::size_t compact_apart::scratch_bytes() const {
    std::size_t bytes = 2 * words_of(tiles_.most_rows()) * sizeof(std::uint64_t);
    for (const side& each : sides_) {
        bytes += line_writer::scratch_bytes(block_rows_ * each.column->row_bytes);
    }
    return bytes;
}

std::vector<compact_apart::outlet> compact_apart::make_outlets(std::byte* scratch) const {
    std::vector<outlet> outlets;
    for (const side& each : sides_) {
        outlets.push_back({line_writer(scratch, stream_ ? lanes_.stream : &copy_lines), 0});
        scratch += line_writer::scratch_bytes(block_rows_ * each.column->row_bytes);
    }
    return outlets;
}

void compact_apart::work(std::byte* scratch) {
    const std::size_t words_bytes = words_of(tiles_.most_rows()) * sizeof(std::uint64_t);
    std::uint64_t* words[2] = {reinterpret_cast<std::uint64_t*>(scratch),
                               reinterpret_cast<std::uint64_t*>(scratch + words_bytes)};
    std::vector<outlet> outlets = make_outlets(scratch + 2 * words_bytes);
    marked_tile moved;
    claim claimed = claim_from(tiles_.take());
    while (claimed.tile < tiles_.count() || moved.rows != 0) {
        try {
            const std::size_t kept = step(claimed, words[0], moved, outlets);
            moved = {};
            if (claimed.tile >= tiles_.count()) continue;
            const std::size_t tile = claimed.tile;
            tiles_.publish(tile, kept);
            claimed = claim_from(two_tickets_ ? claimed.next : tiles_.take());
            const std::size_t before = tiles_.kept_before(tile, kept);
            if (tiles_.failed()) continue;
            moved = {tiles_.begin(tile), tiles_.rows(tile), kept, before, words[0]};
            std::swap(words[0], words[1]);
        } catch (...) {
            tiles_.give_up(claimed.tile);
            tiles_.give_up(claimed.next);
            throw;
        }
    }
    if (stream_) lanes_.end_stream();
}

compact_apart::claim compact_apart::claim_from(std::size_t tile) const {
    const bool two = two_tickets_ && tile < tiles_.count();
    return {tile, two ? tiles_.take() : tiles_.count()};
}

std::size_t compact_apart::step(const claim& claimed, std::uint64_t* words,
                                const marked_tile& moved, std::vector<outlet>& outlets) const {
    const bool marks = claimed.tile < tiles_.count();
    const std::size_t first = marks ? tiles_.begin(claimed.tile) : 0;
    const std::size_t marked_rows = marks ? tiles_.rows(claimed.tile) : 0;
    if (moved.rows != 0) begin_moving(moved, outlets);
    for (std::size_t row = 0; row < std::max(marked_rows, moved.rows); row += block_rows_) {
        if (row < marked_rows) {
            const std::size_t rows = std::min(block_rows_, marked_rows - row);
            if (row >= moved.rows) prefetch(claimed, row, rows);
            mark_(first + row, rows, words + row / 64);
        }
        if (row < moved.rows) {
            move_block(moved, row, std::min(block_rows_, moved.rows - row), claimed, outlets);
        }
    }
    if (moved.rows != 0) {
        for (outlet& each : outlets) each.writer.finish();
    }
    return lanes_.count(words, words_of(marked_rows));
}

void compact_apart::begin_moving(const marked_tile& tile, std::vector<outlet>& outlets) const {
    const std::size_t rest = tile.begin - tile.before;
    for (std::size_t s = 0; s < sides_.size(); ++s) {
        const compact_column& column = *sides_[s].column;
        const std::size_t at = sides_[s].rest ? rest : tile.before;
        const std::size_t rows = sides_[s].rest
                                     ? fitting_rows(tile.rows - tile.kept, rest, room_.rest)
                                     : fitting_rows(tile.kept, tile.before, room_.kept);
        std::byte* const to = sides_[s].rest ? column.rest : column.kept;
        outlets[s].left_bytes = rows * column.row_bytes;
        outlets[s].writer.begin(rows != 0 ? to + at * column.row_bytes : to);
    }
}

void compact_apart::move_block(const marked_tile& tile, std::size_t row, std::size_t rows,
                               const claim& claimed, std::vector<outlet>& outlets) const {
    std::uint64_t others[words_of(most_block_rows)];
    bool complemented = false;
    for (std::size_t s = 0; s < sides_.size(); ++s) {
        const compact_column& column = *sides_[s].column;
        const std::uint64_t* words = tile.words + row / 64;
        if (sides_[s].rest) {
            if (!complemented) {
                std::copy_n(words, words_of(rows), others);
                complement(others, rows);
                complemented = true;
            }
            words = others;
        }
        std::uint64_t numbers[most_block_rows];
        const std::size_t first = tile.begin + row;
        const std::byte* const in = column.in != nullptr
                                        ? column.in + first * column.row_bytes
                                        : number_rows(first, rows, column.row_bytes, numbers);
        line_writer& writer = outlets[s].writer;
        const std::byte* const end = sides_[s].compress(in, words, rows, column.row_bytes,
                                                        ahead(column, claimed, row), writer.next());
        const std::size_t bytes =
            std::min(static_cast<std::size_t>(end - writer.next()), outlets[s].left_bytes);
        outlets[s].left_bytes -= bytes;
        writer.take(bytes);
    }
}

void compact_apart::prefetch(const claim& claimed, std::size_t row, std::size_t rows) const {
    for (const compact_column& column : columns_) {
        const std::byte* const from = ahead(column, claimed, row);
        if (from != nullptr) prefetch_rows(from, rows * column.row_bytes);
    }
}

const std::byte* compact_apart::ahead(const compact_column& column, const claim& claimed,
                                      std::size_t row) const {
    if (column.in == nullptr || claimed.tile >= tiles_.count()) return nullptr;
    const std::size_t bytes = column.row_bytes;
    std::size_t tile = claimed.tile;
    std::size_t at = row * bytes + ahead_bytes;
    if (at >= tiles_.rows(tile) * bytes) {
        at -= tiles_.rows(tile) * bytes;
        tile = claimed.next;
    }
    if (tile >= tiles_.count() || at >= tiles_.rows(tile) * bytes) return nullptr;
    return column.in + tiles_.begin(tile) * bytes + at;
}

}  // namespace lookback::cpu
