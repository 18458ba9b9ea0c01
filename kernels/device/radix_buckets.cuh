// Level L5 (device): the first read of a sort of keys alone: counts buckets by the top bits of the
// keys, and decides whether they are to be partitioned into these buckets. Invariant: leaves its
// counters zero. Counters in shared memory have 16 bits: whoever brings one to 2^15 moves that much
// to the counter in global memory.
#pragma once

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/device/radix_watch.cuh>
#include <lookback/kernels/tile/lane_vector.cuh>

namespace lookback::device {

/// Buckets: the top `bits` bits of the ordered key, of which the first `first_bits` make the
/// buckets of the first partition.
struct bucket_shape {
    int bits;
    int first_bits;

    LOOKBACK_HD int second_bits() const { return bits - first_bits; }
    LOOKBACK_HD int buckets() const { return 1 << bits; }
};

/// Parts of a workspace for buckets.
struct bucket_words {
    std::uint64_t* counts;         ///< two buckets a word; zero between sorts
    std::uint32_t* begins;         ///< [buckets + 1]
    std::uint32_t* cursors;        ///< where the next keys of each bucket go
    std::uint32_t* first_cursors;  ///< [256] the same for the first partition
    std::uint32_t* first_tiles;    ///< [257] tiles of the second partition before each first bucket
};

/// Adds `more` (<= 32) to a bucket's counter.
__device__ __forceinline__ void count_bucket(std::uint32_t* counters, std::uint64_t* totals,
                                             std::uint32_t bucket, std::uint32_t more) {
    constexpr std::uint32_t half = 1U << 15;
    const std::uint32_t shift = (bucket & 1) * 16;
    const std::uint32_t old =
        arch::fetch_add(counters + bucket / 2, more << shift) >> shift & 0xffffU;
    if (old < half && old + more >= half) {
        arch::fetch_add(counters + bucket / 2, 0U - (half << shift));
        arch::add(totals + bucket / 2, std::uint64_t{half} << (bucket & 1) * 32);
    }
}

template <class Key>
class bucket_counter {
public:
    using vector = tile::lane_vector<Key>;

    __device__ __forceinline__ bucket_counter(const core::key_order<Key>& order,
                                              const bucket_shape& shape, std::uint32_t* counters,
                                              std::uint64_t* totals)
        : order_(order),
          counters_(counters),
          totals_(totals),
          shift_(8 * sizeof(Key) - shape.bits) {}

    __device__ __forceinline__ std::uint32_t bucket(Key ordered) const {
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(ordered) >> shift_);
    }

    /// A row of vectors, one a lane, in a warp that has them all.
    __device__ __forceinline__ void whole_row(const vector& keys) {
        const bool crowded = block::is_crowded(bucket(order_(keys.get(0))));
#pragma unroll
        for (int item = 0; item < vector::items; ++item) {
            const std::uint32_t mine = bucket(order_(keys.get(item)));
            ambiguous_ = ambiguous_ || order_.is_ambiguous(keys.get(item));
            if (crowded) {
                const bool like_first = mine == arch::shuffle(mine, 0);
                const std::uint32_t lanes = arch::ballot(like_first);
                if (like_first && arch::lane() != 0) continue;
                count(mine, like_first ? static_cast<std::uint32_t>(arch::bit_count(lanes)) : 1);
            } else {
                count(mine, 1);
            }
        }
    }
    __device__ __forceinline__ void one(Key key) {
        ambiguous_ = ambiguous_ || order_.is_ambiguous(key);
        count(bucket(order_(key)), 1);
    }
    __device__ __forceinline__ bool ambiguous() const {
        return ambiguous_;
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
    __device__ __forceinline__ void count(std::uint32_t bucket, std::uint32_t more) {
        count_bucket(counters_, totals_, bucket, more);
    }

    core::key_order<Key> order_;
    std::uint32_t* counters_;
    std::uint64_t* totals_;
    int shift_;
    bool ambiguous_ = false;
};

template <class Key>
__global__ void __launch_bounds__(tuning::bucket_histogram_threads, 1)
    bucket_histogram(const Key* keys, index_t items, core::key_order<Key> order, bucket_shape shape,
                     bucket_words words, radix_header* header, bool aligned) {
    constexpr int threads = tuning::bucket_histogram_threads;
    constexpr int vectors = tuning::histogram_vectors;
    using counter = bucket_counter<Key>;
    using vector = typename counter::vector;
    auto* counters = static_cast<std::uint32_t*>(arch::dynamic_shared());
    const int thread = static_cast<int>(threadIdx.x);
    const int pairs = core::ceil_div(shape.buckets(), 2);
    for (int i = thread; i < pairs; i += threads) counters[i] = 0;
    arch::sync_block();  // counters are clear

    counter count(order, shape, counters, words.counts);
    order_watch watch;
    bool watching = true;  // the same in all lanes of a warp
    constexpr index_t chunk = index_t{threads} * vectors;
    const index_t chunks = aligned ? items / (chunk * vector::items) : 0;
    for (index_t i = arch::block_number(); i < chunks; i += gridDim.x) {
        vector rows[vectors];
        const Key* from = keys + (i * chunk + thread) * vector::items;
#pragma unroll
        for (int v = 0; v < vectors; ++v) rows[v].load(from + v * threads * vector::items);
#pragma unroll
        for (int v = 0; v < vectors; ++v) {
            count.whole_row(rows[v]);
            if (watching) {
                const Key* after = from + (v * threads + 1) * vector::items;
                count.watch_row(rows[v], after, after < keys + items, watch);
            }
        }
        if (watching) watching = watch.is_open();
    }
    const index_t worker = index_t{arch::block_number()} * threads + thread;
    for (index_t at = chunks * chunk * vector::items + worker; at < items;
         at += index_t{gridDim.x} * threads) {
        count.one(keys[at]);
        if (at + 1 < items) watch.see(order(keys[at]), order(keys[at + 1]));
    }
    tell(watch, *header);
    const bool ambiguous = arch::ballot(count.ambiguous()) != 0;
    if (ambiguous && arch::lane() == 0) arch::exchange(&header->ambiguous, 1);
    arch::sync_block();  // all keys are counted
    for (int i = thread; i < pairs; i += threads) {
        const std::uint32_t pair = counters[i];
        if (pair != 0) {
            arch::add(words.counts + i, std::uint64_t{pair >> 16} << 32 | (pair & 0xffffU));
        }
    }
}

/// Begins of the buckets, and which way to go on. One block.
template <class Policy>
__global__ void __launch_bounds__(1024)
    bucket_plan(index_t items, bucket_shape shape, bucket_words words, index_t tile_items,
                radix_header* header) {
    constexpr int threads = 1024;
    __shared__ std::uint32_t totals[threads / arch::warp_lanes];
    __shared__ std::uint32_t largest;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) largest = 0;
    // Each thread takes neighbouring pairs, so that one sum a thread is scanned.
    const int pairs = core::ceil_div(shape.buckets(), 2);
    const int own = core::ceil_div(pairs, threads);
    const int first = thread * own;
    const int last = first + own < pairs ? first + own : pairs;
    std::uint32_t sum = 0;
    std::uint32_t most = 0;
    for (int i = first; i < last; ++i) {
        const std::uint64_t pair = words.counts[i];
        const auto even = static_cast<std::uint32_t>(pair);
        const auto odd = static_cast<std::uint32_t>(pair >> 32);
        sum += even + odd;
        const std::uint32_t more = even < odd ? odd : even;
        most = most < more ? more : most;
    }
    const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
    const std::uint32_t up_to = warp::inclusive_scan(sum, plus);
    const int own_warp = arch::warp();
    if (arch::lane() == arch::warp_lanes - 1) totals[own_warp] = up_to;
    arch::sync_block();  // totals are written, largest is clear
    arch::raise_to(&largest, most);
    std::uint32_t begin = up_to - sum;
    for (int warp = 0; warp < own_warp; ++warp) begin += totals[warp];
    for (int i = first; i < last; ++i) {
        const std::uint64_t pair = words.counts[i];
        words.counts[i] = 0;
        const auto even = static_cast<std::uint32_t>(pair);
        words.begins[2 * i] = words.cursors[2 * i] = begin;
        words.begins[2 * i + 1] = words.cursors[2 * i + 1] = begin + even;
        begin += even + static_cast<std::uint32_t>(pair >> 32);
    }
    if (thread == 0) words.begins[shape.buckets()] = static_cast<std::uint32_t>(items);
    arch::sync_block();  // begins are written, largest is whole
    const int firsts = 1 << shape.first_bits;
    std::uint32_t tiles = 0;
    if (thread < firsts) {
        const std::uint32_t from = words.begins[thread << shape.second_bits()];
        const std::uint32_t to = words.begins[(thread + 1) << shape.second_bits()];
        words.first_cursors[thread] = from;
        const auto tile = static_cast<std::uint32_t>(tile_items);
        tiles = (to - from + tile - 1) / tile;
    }
    const std::uint32_t before = block::exclusive_digit_sum(tiles, totals);
    if (thread < firsts) words.first_tiles[thread] = before;
    if (thread == firsts - 1) words.first_tiles[firsts] = before + tiles;
    if (thread != 0) return;
    const bool sorted = header->descends == 0;
    const bool falls = !sorted && header->not_falls == 0;
    const bool even_enough = largest <= static_cast<std::uint32_t>(Policy::tile_items);
    const bool in_order = sorted || falls;
    header->by_buckets = !in_order && header->ambiguous == 0 && even_enough;
    header->by_passes = !in_order && header->by_buckets == 0;
    header->identical = header->ambiguous == 0;
    for (int place = 0; place < most_places; ++place) header->plan.order[place] = -1;
    header->plan.passes = 0;
    header->plan.finish = falls ? finish_action::reverse : finish_action::none;
    header->descends = header->not_falls = header->ambiguous = 0;
}

}  // namespace lookback::device
