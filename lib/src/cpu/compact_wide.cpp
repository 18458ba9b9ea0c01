#include "cpu/compact_wide.hpp"

#include "cpu/compact_rows.hpp"

#include <cstring>

namespace lookback::cpu {

void compact_wide::work(std::byte* scratch) {
    auto* const words = reinterpret_cast<std::uint64_t*>(scratch);
    for (std::size_t tile = tiles_.take(); tile < tiles_.count(); tile = tiles_.take()) {
        try {
            mark_(tiles_.begin(tile), tiles_.rows(tile), words);
            const std::size_t kept = lanes_.count(words, words_of(tiles_.rows(tile)));
            tiles_.publish(tile, kept);
            const std::size_t before = tiles_.kept_before(tile, kept);
            if (!tiles_.failed()) move_tile(tile, before, words);
        } catch (...) {
            tiles_.give_up(tile);
            throw;
        }
    }
}

// Runs of rows straight from the input. The rest goes first: what is kept may lie over it.
void compact_wide::move_tile(std::size_t tile, std::size_t before,
                             const std::uint64_t* words) const {
    const std::size_t begin = tiles_.begin(tile);
    const std::size_t rows = tiles_.rows(tile);
    for (const bool keep : {false, true}) {
        std::size_t at = keep ? before : begin - before;
        for (std::size_t row = 0; row < rows;) {
            const auto passes = [&](std::size_t r) {
                return (words[r / 64] >> r % 64 & 1U) == static_cast<std::uint64_t>(keep);
            };
            std::size_t end = row + 1;
            while (end < rows && passes(end) == passes(row)) ++end;
            if (passes(row)) {
                move_run(keep, begin + row, end - row, at);
                at += end - row;
            }
            row = end;
        }
    }
}

void compact_wide::move_run(bool keep, std::size_t row, std::size_t rows, std::size_t at) const {
    const std::size_t room = keep ? room_.kept : room_.rest;
    const std::size_t fitting = fitting_rows(rows, at, room);
    for (const compact_column& column : columns_) {
        std::byte* const to = keep ? column.kept : column.rest;
        if (to == nullptr || fitting == 0) continue;
        const std::size_t bytes = column.row_bytes;
        if (column.in == nullptr) {
            for (std::size_t i = 0; i < fitting; ++i) {
                std::uint64_t number = 0;
                std::memcpy(to + (at + i) * bytes, number_rows(row + i, 1, bytes, &number), bytes);
            }
        } else if (to + at * bytes != column.in + row * bytes) {
            std::memmove(to + at * bytes, column.in + row * bytes, fitting * bytes);
        }
    }
}

}  // namespace lookback::cpu
