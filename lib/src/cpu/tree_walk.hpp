// CPU backend: the tiles of the reproducible tree, walked by one thread or several.
// Invariant: a source's scan(tile, before) is called once a tile, with the before of the tree.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/host_access.hpp"
#include "cpu/tree_fold.hpp"

#include <lookback/buffer.hpp>

#include <algorithm>
#include <atomic>

namespace lookback::cpu {

// A source has
//   value_type              what tiles combine to
//   identity(), start()     the neutral value, and what precedes the first tile
//   combine()               a function object on two values
//   tiles()
//   total(tile)             the tile's own value
//   scan(tile, before)      writes the tile's results; returns the tile's own value
template <class Source>
class tree_walk {
public:
    tree_walk(const Source& source, memory_resource& memory)
        : source_(source), memory_(memory), start_{source.start(), source.identity()} {}

    /// One thread: one pass.
    void straight() {
        fold before(source_.combine(), source_.identity(), 0, start_);
        for (core::index_t tile = 0; tile < source_.tiles(); ++tile) {
            before.push(source_.scan(tile, before.before()));
        }
    }

    /// Several threads: a unit's tile totals first, published; then, once all totals before them in
    /// the chunk and the chain before the chunk are there, its items.
    void threaded(executor& threads) {
        const core::index_t tiles = source_.tiles();
        const core::index_t chunks = core::ceil_div<core::index_t>(tiles, fold::chunk_tiles);
        const core::index_t total_words =
            core::ceil_div(tiles * total_codec::words, line_words) * line_words;
        buffer<std::uint64_t> words(memory_,
                                    static_cast<std::size_t>(total_words + chunks * line_words));
        std::fill(words.begin(), words.end(), 0);
        totals_ = {words.data(), total_codec::words};
        chains_ = {words.data() + total_words, line_words};
        const auto workers = static_cast<std::size_t>(
            std::min<core::index_t>(threads.threads(), core::ceil_div(tiles, unit_tiles)));
        threads.for_each(workers, [&](std::size_t /*worker*/) {
            for (;;) {
                const core::index_t begin =
                    unit_tiles * ticket_.fetch_add(1, std::memory_order_relaxed);
                if (begin >= tiles) return;
                scan_unit(begin, std::min(begin + unit_tiles, tiles));
            }
        });
    }

private:
    using value = typename Source::value_type;
    using chain = tree_chain<value>;
    using fold = tree_fold<value, decltype(std::declval<Source>().combine())>;
    using total_codec = core::tagged_codec<value>;
    using chain_codec = core::tagged_codec<chain>;
    using total_window = core::serial_window<total_codec, host_access, 1>;
    using chain_window = core::serial_window<chain_codec, host_access, 1>;
    static_assert(chain_codec::words <= line_words);
    static constexpr std::uint32_t epoch = 1;
    // A quarter of a chunk: 384 or 512 KiB, which stay in L2 between the two readings.
    static constexpr core::index_t unit_tiles = 8;

    void scan_unit(core::index_t begin, core::index_t end) {
        value totals[unit_tiles];
        for (core::index_t tile = begin; tile < end; ++tile) {
            totals[tile - begin] = source_.total(tile);
            core::publish<total_codec, host_access>(
                totals_, tile, epoch, core::tile_state::aggregate, totals[tile - begin]);
        }
        const core::index_t chunk = begin / fold::chunk_tiles;
        fold before = fold_at(chunk, begin);
        value befores[unit_tiles];
        for (core::index_t tile = begin; tile < end; ++tile) {
            befores[tile - begin] = before.before();
            before.push(totals[tile - begin]);
        }
        if (end % fold::chunk_tiles == 0) {
            core::publish<chain_codec, host_access>(chains_, chunk, epoch, core::tile_state::prefix,
                                                    before.before_chunk());
        }
        for (core::index_t tile = begin; tile < end; ++tile) {
            source_.scan(tile, befores[tile - begin]);
        }
    }

    /// The fold of a chunk up to `tile`, once all that it needs has been published.
    fold fold_at(core::index_t chunk, core::index_t tile) {
        host_waiter waiter;
        const auto no_operator = [](const auto& only, const auto&) { return only; };
        const chain before_chunk = chunk == 0
                                       ? start_
                                       : core::range_total<chain_window>(
                                             chains_, chunk - 1, chunk, epoch, no_operator, waiter);
        fold before(source_.combine(), source_.identity(), chunk, before_chunk);
        for (core::index_t t = chunk * fold::chunk_tiles; t < tile; ++t) {
            before.push(
                core::range_total<total_window>(totals_, t, t + 1, epoch, no_operator, waiter));
        }
        return before;
    }

    const Source& source_;
    memory_resource& memory_;
    chain start_;
    core::slot_array totals_{};
    core::slot_array chains_{};
    std::atomic<core::index_t> ticket_{0};
};

/// Calls the walk that suits the size.
template <class Source>
void walk_tree(const Source& source, memory_resource& memory, executor& threads, bool alone) {
    tree_walk<Source> walk(source, memory);
    if (alone || threads.threads() == 1) {
        walk.straight();
    } else {
        walk.threaded(threads);
    }
}

}  // namespace lookback::cpu
