#include "cpu/compact.hpp"

#include "cpu/compact_lanes.hpp"
#include "cpu/host_access.hpp"
#include "item_list.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/core/tile_shape.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

namespace lookback::cpu {
namespace {

// Rows that are marked and moved while they are in the first-level cache: 4 KiB of u32.
constexpr std::size_t block_rows = 1024;
constexpr std::size_t block_words = block_rows / 64;

std::size_t words_of(std::size_t rows) {
    return (rows + 63) / 64;
}

void complement(std::uint64_t* words, std::size_t rows) {
    for (std::size_t w = 0; w < words_of(rows); ++w) words[w] = ~words[w];
    if (rows % 64 != 0) words[rows / 64] &= (std::uint64_t{1} << rows % 64) - 1;
}

/// What all tiles of one compaction share.
class tiled_compaction {
public:
    tiled_compaction(memory_resource& memory, std::size_t rows, const block_marker& mark,
                     std::span<const compact_column> columns, const compact_room& room,
                     const compact_limits& limits)
        : mark_(mark),
          columns_(columns),
          room_(room),
          lanes_(find_compact_lanes()),
          row_bytes_(moved_bytes(columns)),
          wide_(row_bytes_ > limits.wide_row_bytes),
          shape_{static_cast<core::index_t>(rows),
                 static_cast<core::index_t>(tile_rows(row_bytes_, limits))},
          words_(memory, static_cast<std::size_t>(shape_.tiles() * core::index_t{line_words})),
          slots_{words_.data(), line_words} {
        std::fill(words_.begin(), words_.end(), 0);
        for (const compact_column& column : columns) {
            compress_.push_back(lanes_.compress_for(column.row_bytes));
            in_place_ = in_place_ || (column.in != nullptr && column.in == column.kept);
        }
        stream_ = !in_place_ && rows * row_bytes_ >= limits.stream_from_bytes;
    }

    core::index_t tiles() const { return shape_.tiles(); }
    std::size_t bytes() const { return static_cast<std::size_t>(shape_.items) * (row_bytes_ + 1); }
    /// Wide rows in place are moved straight over rows of earlier tiles, which one thread has done
    /// with.
    bool needs_one_thread() const { return wide_ && in_place_; }
    std::size_t kept() const { return kept_.load(std::memory_order_relaxed); }

    /// Bytes of scratch that work() needs for itself.
    std::size_t scratch_bytes() const {
        const auto rows = static_cast<std::size_t>(shape_.tile_items);
        const std::size_t words = words_of(rows) * sizeof(std::uint64_t);
        if (wide_) return words;
        return words + rows * row_bytes_ + 2 * columns_.size() * compress_slack_bytes;
    }

    /// What one thread does: tiles in the order of their tickets, so that every earlier tile
    /// belongs to a thread that is running.
    void work(std::byte* scratch) {
        core::index_t tile = ticket_.fetch_add(1, std::memory_order_relaxed);
        while (tile < tiles()) {
            const auto begin = static_cast<std::size_t>(shape_.begin(tile));
            const auto rows = static_cast<std::size_t>(shape_.size(tile));
            std::size_t kept = 0;
            try {
                kept = wide_ ? mark_tile(begin, rows, scratch) : stage_tile(begin, rows, scratch);
            } catch (...) {
                // Threads wait for this tile: it keeps nothing, no further one is begun.
                ticket_.store(tiles(), std::memory_order_relaxed);
                kept_before(tile, 0);
                throw;
            }
            const std::size_t before = kept_before(tile, kept);
            const core::index_t next = ticket_.fetch_add(1, std::memory_order_relaxed);
            if (wide_) {
                move_wide(begin, rows, before, reinterpret_cast<const std::uint64_t*>(scratch));
            } else {
                write_tile(tile, next, before, kept, scratch);
            }
            if (tile + 1 == tiles()) kept_.store(before + kept, std::memory_order_relaxed);
            tile = next;
        }
    }

private:
    static std::size_t moved_bytes(std::span<const compact_column> columns) {
        std::size_t bytes = 0;
        for (const compact_column& column : columns) {
            bytes += column.row_bytes * ((column.kept != nullptr) + (column.rest != nullptr));
        }
        return bytes;
    }
    static std::size_t tile_rows(std::size_t row_bytes, const compact_limits& limits) {
        const std::size_t rows = limits.tile_bytes / std::max<std::size_t>(row_bytes, 4);
        return std::max<std::size_t>(rows / 64, 1) * 64;
    }

    // Marks a tile; its words go to the scratch.
    std::size_t mark_tile(std::size_t begin, std::size_t rows, std::byte* scratch) const {
        auto* words = reinterpret_cast<std::uint64_t*>(scratch);
        mark_(begin, rows, words);
        return lanes_.count(words, words_of(rows));
    }

    // Marks a tile block by block and moves its rows to the scratch, while they are in cache.
    std::size_t stage_tile(std::size_t begin, std::size_t rows, std::byte* scratch) const {
        std::uint64_t words[block_words];
        std::uint64_t others[block_words];
        std::size_t kept = 0;
        for (std::size_t block = 0; block < rows; block += block_rows) {
            const std::size_t count = std::min(block_rows, rows - block);
            mark_(begin + block, count, words);
            const std::size_t passed = lanes_.count(words, words_of(count));
            if (has_rest()) {
                std::copy_n(words, words_of(count), others);
                complement(others, count);
            }
            std::byte* stage = scratch;
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                const compact_column& column = columns_[c];
                const std::size_t bytes = column.row_bytes;
                std::uint64_t numbers[block_rows];
                const std::byte* in = column.in + (begin + block) * bytes;
                if (column.in == nullptr) in = number_rows(begin + block, count, bytes, numbers);
                if (column.kept != nullptr) {
                    if (passed != 0) compress_[c](in, words, count, bytes, stage + kept * bytes);
                    stage += rows * bytes + compress_slack_bytes;
                }
                if (column.rest != nullptr) {
                    if (passed != count) {
                        compress_[c](in, others, count, bytes, stage + (block - kept) * bytes);
                    }
                    stage += rows * bytes + compress_slack_bytes;
                }
            }
            kept += passed;
        }
        return kept;
    }

    static const std::byte* number_rows(std::size_t first, std::size_t count, std::size_t bytes,
                                        std::uint64_t* numbers) {
        if (bytes == 8) {
            std::iota(numbers, numbers + count, std::uint64_t{first});
        } else {
            auto* narrow = reinterpret_cast<std::uint32_t*>(numbers);
            std::iota(narrow, narrow + count, static_cast<std::uint32_t>(first));
        }
        return reinterpret_cast<const std::byte*>(numbers);
    }

    bool has_rest() const {
        return std::any_of(columns_.begin(), columns_.end(),
                           [](const compact_column& column) { return column.rest != nullptr; });
    }

    /// Publishes the tile's count, looks back, publishes the count up to its end.
    std::size_t kept_before(core::index_t tile, std::size_t kept) {
        using codec = core::count_codec;
        using window = core::serial_window<codec, ordered_host_access, 4>;
        constexpr std::uint32_t epoch = 1;
        if (tile == 0) {
            core::publish<codec, ordered_host_access>(slots_, tile, epoch, core::tile_state::prefix,
                                                      kept);
            return 0;
        }
        core::publish<codec, ordered_host_access>(slots_, tile, epoch, core::tile_state::aggregate,
                                                  kept);
        host_waiter waiter;
        const std::uint64_t before = core::exclusive_prefix<window>(
            slots_, tile, epoch, [](std::uint64_t a, std::uint64_t b) { return a + b; }, waiter);
        core::publish<codec, ordered_host_access>(slots_, tile, epoch, core::tile_state::prefix,
                                                  before + kept);
        return before;
    }

    // From the scratch to where the rows belong, as far as there is room.
    void write_tile(core::index_t tile, core::index_t next, std::size_t before, std::size_t kept,
                    const std::byte* scratch) const {
        const auto begin = static_cast<std::size_t>(shape_.begin(tile));
        const auto rows = static_cast<std::size_t>(shape_.size(tile));
        // Rows that stand where they belong already; a neighbour may be reading the last of them.
        const bool stays = in_place_ && before == begin && kept == rows;
        for (const compact_column& column : columns_) {
            const std::size_t bytes = column.row_bytes;
            if (column.kept != nullptr) {
                if (!stays || column.kept != column.in) {
                    write(scratch, column.kept, bytes, before, kept, room_.kept,
                          input_of(column, next));
                }
                scratch += rows * bytes + compress_slack_bytes;
            }
            if (column.rest != nullptr) {
                write(
                    scratch, column.rest, bytes, begin - before, rows - kept, room_.rest,
                    column.kept == nullptr ? input_of(column, next) : std::span<const std::byte>{});
                scratch += rows * bytes + compress_slack_bytes;
            }
        }
    }
    // What the thread reads next of a column.
    std::span<const std::byte> input_of(const compact_column& column, core::index_t tile) const {
        if (column.in == nullptr || tile >= tiles()) return {};
        return {column.in + static_cast<std::size_t>(shape_.begin(tile)) * column.row_bytes,
                static_cast<std::size_t>(shape_.size(tile)) * column.row_bytes};
    }
    void write(const std::byte* from, std::byte* to, std::size_t bytes, std::size_t at,
               std::size_t rows, std::size_t room, std::span<const std::byte> next) const {
        const std::size_t fitting = std::min(rows, room - std::min(at, room));
        if (fitting == 0) return;
        if (stream_) {
            lanes_.stream(from, fitting * bytes, to + at * bytes, next.data(), next.size());
        } else {
            std::memcpy(to + at * bytes, from, fitting * bytes);
        }
    }

    // Runs of rows straight from the input. The rest goes first: what is kept may lie over it.
    void move_wide(std::size_t begin, std::size_t rows, std::size_t before,
                   const std::uint64_t* words) const {
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
    void move_run(bool keep, std::size_t row, std::size_t rows, std::size_t at) const {
        const std::size_t room = keep ? room_.kept : room_.rest;
        const std::size_t fitting = std::min(rows, room - std::min(at, room));
        for (const compact_column& column : columns_) {
            std::byte* const to = keep ? column.kept : column.rest;
            if (to == nullptr || fitting == 0) continue;
            const std::size_t bytes = column.row_bytes;
            if (column.in == nullptr) {
                for (std::size_t i = 0; i < fitting; ++i) {
                    std::uint64_t number = 0;
                    std::memcpy(to + (at + i) * bytes, number_rows(row + i, 1, bytes, &number),
                                bytes);
                }
            } else if (to + at * bytes != column.in + row * bytes) {
                std::memmove(to + at * bytes, column.in + row * bytes, fitting * bytes);
            }
        }
    }

    const block_marker& mark_;
    std::span<const compact_column> columns_;
    compact_room room_;
    compact_lanes lanes_;
    std::size_t row_bytes_;  // to kept and rest, of all columns
    bool wide_;
    core::tile_shape shape_;
    buffer<std::uint64_t> words_;
    core::slot_array slots_;
    std::vector<compact_lanes::compress> compress_;
    bool in_place_ = false;
    bool stream_ = false;
    std::atomic<core::index_t> ticket_{0};
    std::atomic<std::size_t> kept_{0};
};

}  // namespace

std::size_t compact(executor& threads, memory_resource& memory, std::size_t rows,
                    const block_marker& mark, std::span<const compact_column> columns,
                    const compact_room& room, const compact_limits& limits) {
    if (rows == 0) return 0;
    tiled_compaction tiled(memory, rows, mark, columns, room, limits);
    const bool one = tiled.needs_one_thread() || tiled.bytes() < limits.threads_from_bytes;
    const auto workers =
        one ? std::size_t{1}
            : static_cast<std::size_t>(std::min<core::index_t>(threads.threads(), tiled.tiles()));
    const std::size_t scratch_bytes = (tiled.scratch_bytes() + 63) / 64 * 64;
    const buffer<std::byte> scratch(memory, workers * scratch_bytes);
    threads.for_each(
        workers, [&](std::size_t worker) { tiled.work(scratch.data() + worker * scratch_bytes); });
    return tiled.kept();
}

block_marker marker_of(const row_flags& flags) {
    const compact_lanes lanes = find_compact_lanes();
    return [&flags, lanes](std::size_t first, std::size_t rows, std::uint64_t* words) {
        switch (flags.from) {
            case row_flags::source::bytes:
                lanes.bits_from_bytes(static_cast<const std::uint8_t*>(flags.data) + first, rows,
                                      words);
                break;
            case row_flags::source::bits:
                std::copy_n(static_cast<const std::uint64_t*>(flags.data) + first / 64,
                            words_of(rows), words);
                if (rows % 64 != 0) words[rows / 64] &= (std::uint64_t{1} << rows % 64) - 1;
                break;
            case row_flags::source::computed:
                flags.mark(first, rows, words);
                break;
        }
        if (flags.inverted) complement(words, rows);
    };
}

template <class T>
block_marker compare_marker(const T* in, comparison op, T value) {
    auto found = mark_comparison::equal;
    bool inverse = false;
    switch (op) {
        case comparison::less:
            found = mark_comparison::less;
            break;
        case comparison::greater:
            found = mark_comparison::greater;
            break;
        case comparison::equal:
            break;
        case comparison::not_equal:
            inverse = true;
            break;
        // Integers have no NaN: the complement of the opposite.
        case comparison::less_equal:
            inverse = !std::is_floating_point_v<T>;
            found = inverse ? mark_comparison::greater : mark_comparison::less_equal;
            break;
        case comparison::greater_equal:
            inverse = !std::is_floating_point_v<T>;
            found = inverse ? mark_comparison::less : mark_comparison::greater_equal;
            break;
    }
    const auto compare = find_mark_compare<T>(found);
    return [=](std::size_t first, std::size_t rows, std::uint64_t* words) {
        compare(in + first, rows, value, words);
        if (inverse) complement(words, rows);
    };
}

template <class T>
block_marker heads_marker(const T* in) {
    const auto heads = find_mark_heads<T>();
    return [=](std::size_t first, std::size_t rows, std::uint64_t* words) {
        if (first != 0) return heads(in + first, rows, words);
        // Nothing stands before the first item: one word by hand, then as everywhere.
        const std::size_t begin = std::min<std::size_t>(64, rows);
        std::uint64_t others = 0;
        if (begin > 1) heads(in + 1, begin - 1, &others);
        words[0] = others << 1 | 1U;
        if (rows > begin) heads(in + begin, rows - begin, words + 1);
    };
}

void bytes_of(executor& threads, std::size_t rows, const block_marker& mark, std::uint8_t* flags) {
    const core::tile_shape shape{static_cast<core::index_t>(rows), block_rows * 64};
    threads.for_each(static_cast<std::size_t>(shape.tiles()), [&](std::size_t tile) {
        const auto begin = static_cast<std::size_t>(shape.begin(static_cast<core::index_t>(tile)));
        const auto end =
            begin + static_cast<std::size_t>(shape.size(static_cast<core::index_t>(tile)));
        std::uint64_t words[block_words];
        for (std::size_t first = begin; first < end; first += block_rows) {
            const std::size_t count = std::min(block_rows, end - first);
            mark(first, count, words);
            for (std::size_t i = 0; i < count; ++i) flags[first + i] = words[i / 64] >> i % 64 & 1U;
        }
    });
}

void scatter(executor& threads, std::span<const std::uint8_t> flags, const std::int64_t* offsets,
             const std::byte* in, std::size_t row_bytes, std::byte* out) {
    const core::tile_shape shape{static_cast<core::index_t>(flags.size()), block_rows * 64};
    threads.for_each(static_cast<std::size_t>(shape.tiles()), [&](std::size_t tile) {
        const auto begin = static_cast<std::size_t>(shape.begin(static_cast<core::index_t>(tile)));
        const auto end =
            begin + static_cast<std::size_t>(shape.size(static_cast<core::index_t>(tile)));
        for (std::size_t i = begin; i < end; ++i) {
            if (flags[i] == 0) continue;
            std::memcpy(out + static_cast<std::size_t>(offsets[i]) * row_bytes, in + i * row_bytes,
                        row_bytes);
        }
    });
}

#define LOOKBACK_MARKABLE(T)                                       \
    template block_marker compare_marker(const T*, comparison, T); \
    template block_marker heads_marker(const T*)

LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_MARKABLE);
#undef LOOKBACK_MARKABLE

}  // namespace lookback::cpu
