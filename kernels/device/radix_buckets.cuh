// Level L5 (device): the first read of a sort of keys alone: sees where the keys lie, counts them
// by buckets, and its last block decides how they are moved. Invariant: leaves the counters in
// global memory zero. Counters in shared memory have 16 bits: what is added is looked at now and
// then, and moved to a log; the sum shows whether a counter ran over, and the block then counts
// anew.
#pragma once

#include <lookback/kernels/device/radix_bucket_plan.cuh>
#include <lookback/kernels/device/radix_cell_counters.cuh>
#include <lookback/kernels/tile/lane_vector.cuh>

namespace lookback::device {

/// By the top bits of any keys, or by cells of unambiguous ones.
template <class Key, bool TopBits>
class bucket_counter {
public:
    using vector = tile::lane_vector<Key>;
    static constexpr int vectors = tuning::histogram_vectors;

    __device__ __forceinline__ bucket_counter(const core::key_order<Key>& order,
                                              const cell_map<Key>& cells, cell_counters& counters)
        : order_(order), cells_(cells), counters_(counters) {}

    /// As many vectors a lane, in a warp that has them all.
    template <bool Clamps>
    __device__ __forceinline__ void chunk(const vector (&rows)[vectors]) {
        const hot_cells hot(cell<Clamps>(rows[0].get(0)));
        std::uint32_t hits = 0;  // of both hot cells
#pragma unroll
        for (int v = 0; v < vectors; ++v) {
#pragma unroll
            for (int item = 0; item < vector::items; ++item) {
                const std::uint32_t mine = cell<Clamps>(look_at<Clamps>(rows[v].get(item)));
                if (hot.any()) {
                    const std::uint32_t hit = mine == hot.cells[0]   ? 1U
                                              : mine == hot.cells[1] ? 0x10000U
                                                                     : 0U;
                    hits += hit;
                    if (hit != 0) continue;
                }
                if (item == 0) {
                    counters_.count_watched(mine, 1);
                } else {
                    counters_.count(mine);
                }
            }
        }
        counted_ += vectors * vector::items;
        if (hot.any()) add_hits(hot, hits);
    }
    __device__ __forceinline__ void one(Key key) {
        counters_.count_watched(cell<true>(look_at<true>(key)), 1);
        ++counted_;
    }
    /// Once more, with every addition watched.
    __device__ __forceinline__ void one_again(Key key) {
        counters_.count_watched(cell<true>(key), 1);
    }
    __device__ __forceinline__ bool ambiguous() const {
        return ambiguous_;
    }
    __device__ __forceinline__ bool outside() const {
        return outside_;
    }
    __device__ __forceinline__ std::uint32_t counted() const {
        return counted_;
    }

    /// Looks at the order of a vector's keys and of the one after them.
    __device__ __forceinline__ void watch_row(const vector& keys, const Key* after, bool has_after,
                                              order_watch& watch) const {
        Key before = order_(keys.get(0));
#pragma unroll
        for (int item = 1; item < vector::items; ++item) {
            const Key now = order_(keys.get(item));
            watch.see(before, now);
            before = now;
        }
        if (has_after) watch.see(before, order_(*after));
    }

private:
    __device__ __forceinline__ Key ordered(Key key) const {
        if constexpr (TopBits) return order_(key);
        return order_.of_unambiguous(key);
    }
    template <bool Clamps>
    __device__ __forceinline__ std::uint32_t cell(Key key) const {
        return cells_.template number<Clamps>(ordered(key));
    }
    template <bool Clamps>
    __device__ __forceinline__ Key look_at(Key key) {
        ambiguous_ = ambiguous_ || order_.is_ambiguous(key);
        if constexpr (Clamps) {
            outside_ = outside_ || !cells_.holds(ordered(key));
        }
        return key;
    }
    __device__ __forceinline__ void add_hits(const hot_cells& hot, std::uint32_t hits) {
        const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
        hits = warp::reduce_any_order(hits, plus);
        if (arch::lane() != 0) return;
        if ((hits & 0xffffU) != 0) counters_.count_watched(hot.cells[0], hits & 0xffffU);
        if (hits >> 16 != 0) counters_.count_watched(hot.cells[1], hits >> 16);
    }

    core::key_order<Key> order_;
    cell_map<Key> cells_;
    cell_counters& counters_;
    std::uint32_t counted_ = 0;
    bool ambiguous_ = false;
    bool outside_ = false;
};

/// The cells that some thousand keys ask for, the same in all blocks.
template <class Key>
__device__ __forceinline__ cell_map<Key> guess_cells(const Key* keys, index_t items,
                                                     const core::key_order<Key>& order,
                                                     const bucket_shape& shape) {
    constexpr int threads = tuning::bucket_histogram_threads;
    constexpr int samples = 4;
    __shared__ Key lows[threads / arch::warp_lanes];
    __shared__ Key highs[threads / arch::warp_lanes];
    Key low = static_cast<Key>(~Key{0});
    Key high = 0;
#pragma unroll
    for (int sample = 0; sample < samples; ++sample) {
        const index_t number = index_t{sample} * threads + static_cast<index_t>(threadIdx.x);
        const Key key = order.of_unambiguous(keys[items * number / (samples * threads)]);
        low = key < low ? key : low;
        high = key < high ? high : key;
    }
    const auto least = [](Key a, Key b) { return a < b ? a : b; };
    const auto most = [](Key a, Key b) { return a < b ? b : a; };
    low = warp::reduce_any_order(low, least);
    high = warp::reduce_any_order(high, most);
    const int own = arch::warp();
    if (arch::lane() == 0) {
        lows[own] = low;
        highs[own] = high;
    }
    arch::sync_block();  // each warp's extremes are written; what else the block cleared, too
    static_assert(threads / arch::warp_lanes == arch::warp_lanes);
    low = warp::reduce_any_order(lows[arch::lane()], least);
    high = warp::reduce_any_order(highs[arch::lane()], most);
    return make_cells(low, high, shape.first_bits, shape.second_bits());
}

/// A block's share of the keys: chunks in turn with the other blocks, and what is left over.
template <class Key>
struct histogram_share {
    using vector = tile::lane_vector<Key>;
    static constexpr int threads = tuning::bucket_histogram_threads;
    static constexpr int vectors = tuning::histogram_vectors;
    static constexpr index_t chunk_items = index_t{threads} * vectors * vector::items;

    const Key* keys;
    index_t items;
    index_t chunks;

    template <bool Clamps, bool TopBits>
    __device__ __forceinline__ void count(bucket_counter<Key, TopBits>& counter,
                                          order_watch& watch) const {
        bool watching = true;  // the same in all lanes of a warp
        const int thread = static_cast<int>(threadIdx.x);
        for (index_t i = arch::block_number(); i < chunks; i += gridDim.x) {
            vector rows[vectors];
            const Key* from = keys + i * chunk_items + thread * vector::items;
#pragma unroll
            for (int v = 0; v < vectors; ++v) rows[v].load(from + v * threads * vector::items);
            counter.template chunk<Clamps>(rows);
            if (!watching) continue;
#pragma unroll
            for (int v = 0; v < vectors; ++v) {
                const Key* after = from + (v * threads + 1) * vector::items;
                counter.watch_row(rows[v], after, after < keys + items, watch);
            }
            watching = watch.is_open();
        }
    }
    /// Body of each key after the chunks.
    template <class Body>
    __device__ __forceinline__ void rest(Body body) const {
        const index_t worker = index_t{arch::block_number()} * threads + threadIdx.x;
        for (index_t at = chunks * chunk_items + worker; at < items;
             at += index_t{gridDim.x} * threads) {
            body(at);
        }
    }
    template <bool TopBits>
    __device__ __forceinline__ void count_again(bucket_counter<Key, TopBits>& counter) const {
        for (index_t i = arch::block_number(); i < chunks; i += gridDim.x) {
            for (index_t at = i * chunk_items + threadIdx.x; at < (i + 1) * chunk_items;
                 at += threads) {
                counter.one_again(keys[at]);
            }
        }
        rest([&](index_t at) { counter.one_again(keys[at]); });
    }
};

/// By the top bits of the keys, for whoever plans next; or by cells, with a plan.
template <class Key, bool TopBits>
__global__ void __launch_bounds__(tuning::bucket_histogram_threads, 1)
    bucket_histogram(const Key* keys, index_t items, core::key_order<Key> order,
                     bucket_limits limits, bucket_words words, radix_header* header, bool aligned) {
    using share_type = histogram_share<Key>;
    __shared__ cell_counters counters;
    [[maybe_unused]] __shared__ plan_shared planning;
    constexpr int threads = tuning::bucket_histogram_threads;
    const int thread = static_cast<int>(threadIdx.x);
    const bucket_shape shape = limits.shape;
    const int pairs = core::ceil_div(shape.buckets(), 2);
    if (thread == 0) counters.moves = counters.balance = 0;
    std::uint32_t* clear = cell_counters::pairs();
    for (int i = thread; i < pairs; i += threads) clear[i] = 0;
    cell_map<Key> cells{0, 8 * static_cast<int>(sizeof(Key)) - shape.bits, (1U << shape.bits) - 1};
    if constexpr (!TopBits) cells = guess_cells(keys, items, order, shape);
    arch::sync_block();  // counters are clear

    bucket_counter<Key, TopBits> counter(order, cells, counters);
    order_watch watch;
    const share_type share{keys, items, aligned ? items / share_type::chunk_items : 0};
    if (cells.holds_all()) {
        share.template count<false, TopBits>(counter, watch);
    } else {
        share.template count<true, TopBits>(counter, watch);
    }
    share.rest([&](index_t at) {
        counter.one(keys[at]);
        if (at + 1 < items) watch.see(order(keys[at]), order(keys[at + 1]));
    });
    tell(watch, *header);
    const bool ambiguous = arch::ballot(counter.ambiguous()) != 0;
    const bool outside = arch::ballot(counter.outside()) != 0;
    if (ambiguous && arch::lane() == 0) arch::exchange(&header->ambiguous, 1);
    if (outside && arch::lane() == 0) arch::exchange(&words.state->outside, 1);
    arch::sync_block();  // all keys are counted
    if (!all_are_counted(counters, pairs, counter.counted())) {
        for (int i = thread; i < pairs; i += threads) clear[i] = 0;
        if (thread == 0) counters.moves = 0;
        arch::sync_block();  // counters are clear
        share.count_again(counter);
        arch::sync_block();  // all keys are counted
    }
    for (int i = thread; i < pairs; i += threads) {
        const std::uint32_t pair = counters.pairs()[i];
        if (pair != 0) {
            arch::add(words.counts + i, std::uint64_t{pair >> 16} << 32 | (pair & 0xffffU));
        }
    }
    for (std::uint32_t i = threadIdx.x; i < counters.moves; i += threads) {
        const std::uint32_t cell = counters.log[i];
        arch::add(words.counts + cell / 2, std::uint64_t{cell_counters::half} << (cell & 1) * 32);
    }
    if constexpr (!TopBits) {
        if (!is_last_block(&words.state->arrived, planning)) return;
        plan_buckets<Key>(items, cells, limits, words, *header, planning);
    }
}

}  // namespace lookback::device
