#include "cpu/scan_reproducible.hpp"

#include "cpu/host_access.hpp"
#include "cpu/tree_fold.hpp"
#include "cpu/tree_lanes.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/core/tile_shape.hpp>

#include <algorithm>
#include <atomic>

namespace lookback::cpu {
namespace {

template <class T>
class tree_scan {
public:
    using tree = core::reproducible_tree<sizeof(T)>;
    using fold = tree_fold<T>;

    tree_scan(memory_resource& memory, std::span<const T> in, std::span<T> out, bool exclusive,
              const scan_options<T>& options, bool stream)
        : lanes_(find_tree_lanes<T>(options.op)),
          start_{options.init.value_or(lanes_.identity), lanes_.identity},
          in_(in.data()),
          out_(out.data()),
          exclusive_(exclusive),
          stream_(stream),
          shape_{static_cast<core::index_t>(in.size()), tree::tile_items},
          memory_(memory) {}

    /// One thread: one pass.
    void straight() {
        fold before(lanes_.combine, lanes_.identity, 0, start_);
        for (core::index_t tile = 0; tile < shape_.tiles(); ++tile) {
            before.push(scan_tile(tile, before.before()));
        }
    }

    /// Several threads: a unit's tile totals first, published; then, once all totals before them in
    /// the chunk and the chain before the chunk are there, its items.
    void threaded(executor& threads) {
        const core::index_t tiles = shape_.tiles();
        const core::index_t chunks = core::ceil_div<core::index_t>(tiles, fold::chunk_tiles);
        const core::index_t total_words = core::ceil_div(tiles * total_codec::words, line_words);
        buffer<std::uint64_t> words(memory_,
                                    static_cast<std::size_t>((total_words + chunks) * line_words));
        std::fill(words.begin(), words.end(), 0);
        totals_ = {words.data(), total_codec::words};
        chains_ = {words.data() + total_words * line_words, line_words};
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
    using total_codec = core::tagged_codec<T>;
    using chain_codec = core::tagged_codec<tree_chain<T>>;
    using total_window = core::serial_window<total_codec, host_access, 1>;
    using chain_window = core::serial_window<chain_codec, host_access, 1>;
    static constexpr std::uint32_t epoch = 1;
    // A quarter of a chunk: 256 KiB, which stay in L2 between the two readings.
    static constexpr core::index_t unit_tiles = 8;

    T scan_tile(core::index_t tile, T before) {
        const core::index_t begin = shape_.begin(tile);
        return lanes_.scan(in_ + begin, out_ + begin, static_cast<std::size_t>(shape_.size(tile)),
                           before, exclusive_, stream_);
    }

    void scan_unit(core::index_t begin, core::index_t end) {
        T totals[unit_tiles];
        for (core::index_t tile = begin; tile < end; ++tile) {
            totals[tile - begin] =
                lanes_.total(in_ + shape_.begin(tile), static_cast<std::size_t>(shape_.size(tile)));
            core::publish<total_codec, host_access>(
                totals_, tile, epoch, core::tile_state::aggregate, totals[tile - begin]);
        }
        const core::index_t chunk = begin / fold::chunk_tiles;
        fold before = fold_at(chunk, begin);
        T befores[unit_tiles];
        for (core::index_t tile = begin; tile < end; ++tile) {
            befores[tile - begin] = before.before();
            before.push(totals[tile - begin]);
        }
        if (end % fold::chunk_tiles == 0) {
            core::publish<chain_codec, host_access>(chains_, chunk, epoch, core::tile_state::prefix,
                                                    before.chain());
        }
        for (core::index_t tile = begin; tile < end; ++tile) {
            scan_tile(tile, befores[tile - begin]);
        }
    }

    /// The fold of a chunk up to `tile`, once all that it needs has been published.
    fold fold_at(core::index_t chunk, core::index_t tile) {
        host_waiter waiter;
        const auto no_operator = [](const auto& value, const auto&) { return value; };
        const tree_chain<T> chain =
            chunk == 0 ? start_
                       : core::range_total<chain_window>(chains_, chunk - 1, chunk, epoch,
                                                         no_operator, waiter);
        fold before(lanes_.combine, lanes_.identity, chunk, chain);
        for (core::index_t t = chunk * fold::chunk_tiles; t < tile; ++t) {
            before.push(
                core::range_total<total_window>(totals_, t, t + 1, epoch, no_operator, waiter));
        }
        return before;
    }

    tree_lanes<T> lanes_;
    tree_chain<T> start_;
    const T* in_;
    T* out_;
    bool exclusive_;
    bool stream_;
    core::tile_shape shape_;
    memory_resource& memory_;
    core::slot_array totals_{};
    core::slot_array chains_{};
    std::atomic<core::index_t> ticket_{0};
};

}  // namespace

template <class T>
void scan_reproducible(executor& threads, memory_resource& memory, std::span<const T> in,
                       std::span<T> out, bool exclusive, const scan_options<T>& options,
                       const scan_limits& limits) {
    tree_scan<T> scan(memory, in, out, exclusive, options, limits.streams(in, out));
    if (threads.threads() == 1 || in.size_bytes() < limits.threads_from_bytes) {
        scan.straight();
    } else {
        scan.threaded(threads);
    }
}

template void scan_reproducible(executor&, memory_resource&, std::span<const float>,
                                std::span<float>, bool, const scan_options<float>&,
                                const scan_limits&);
template void scan_reproducible(executor&, memory_resource&, std::span<const double>,
                                std::span<double>, bool, const scan_options<double>&,
                                const scan_limits&);

}  // namespace lookback::cpu
