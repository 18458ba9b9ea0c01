// CPU backend: what all threads of a compaction share: tiles by ticket, and the look-back that
// tells where a tile's rows go.
// Invariant: a thread marks and publishes its tiles in the order of their tickets and waits for
// earlier tiles alone; so the first tile that is not published belongs to a thread that runs.
#pragma once

#include "cpu/host_access.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/core/tile_shape.hpp>

#include <algorithm>
#include <atomic>

namespace lookback::cpu {

class compact_tiles {
public:
    compact_tiles(memory_resource& memory, std::size_t rows, std::size_t tile_rows)
        : shape_{static_cast<core::index_t>(rows), static_cast<core::index_t>(tile_rows)},
          words_(memory, static_cast<std::size_t>(shape_.tiles() * core::index_t{line_words})),
          slots_{words_.data(), line_words} {
        std::fill(words_.begin(), words_.end(), 0);
    }

    std::size_t count() const { return static_cast<std::size_t>(shape_.tiles()); }
    std::size_t most_rows() const { return static_cast<std::size_t>(shape_.tile_items); }
    std::size_t begin(std::size_t tile) const {
        return static_cast<std::size_t>(shape_.begin(static_cast<core::index_t>(tile)));
    }
    std::size_t rows(std::size_t tile) const {
        return static_cast<std::size_t>(shape_.size(static_cast<core::index_t>(tile)));
    }

    /// The next tile to mark; count() and above: there is none.
    std::size_t take() { return ticket_.fetch_add(1, std::memory_order_relaxed); }

    /// Tells later tiles how many rows of this one pass; what this thread read is behind it.
    void publish(std::size_t tile, std::size_t kept) {
        const auto state = tile == 0 ? core::tile_state::prefix : core::tile_state::aggregate;
        core::publish<codec, ordered_host_access>(slots_, static_cast<core::index_t>(tile), epoch,
                                                  state, kept);
    }
    /// Waits for the earlier tiles. How many of their rows pass, after the tile was published.
    std::size_t kept_before(std::size_t tile, std::size_t kept) {
        std::uint64_t before = 0;
        if (tile != 0) {
            host_waiter waiter;
            const auto at = static_cast<core::index_t>(tile);
            before = core::exclusive_prefix<window>(
                slots_, at, epoch, [](std::uint64_t a, std::uint64_t b) { return a + b; }, waiter);
            core::publish<codec, ordered_host_access>(slots_, at, epoch, core::tile_state::prefix,
                                                      before + kept);
        }
        if (tile + 1 == count()) kept_.store(before + kept, std::memory_order_relaxed);
        return before;
    }

    /// For a thread that cannot go on: no further tile is begun, nobody waits for this one, and no
    /// later one is moved, whose place is not known.
    void give_up(std::size_t tile) {
        failed_.store(true,
                      std::memory_order_relaxed);  // seen by who reads the word published below
        ticket_.store(count(), std::memory_order_relaxed);
        if (tile < count()) publish(tile, 0);
    }

    /// True after kept_before() where an earlier tile was given up: its answer means nothing.
    bool failed() const { return failed_.load(std::memory_order_relaxed); }

    /// The rows that pass, once all tiles have looked back.
    std::size_t kept() const { return kept_.load(std::memory_order_relaxed); }

private:
    using codec = core::count_codec;
    using window = core::serial_window<codec, ordered_host_access, 4>;
    static constexpr std::uint32_t epoch = 1;

    core::tile_shape shape_;
    buffer<std::uint64_t> words_;
    core::slot_array slots_;
    std::atomic<std::size_t> ticket_{0};
    std::atomic<std::size_t> kept_{0};
    std::atomic<bool> failed_{false};
};

}  // namespace lookback::cpu
