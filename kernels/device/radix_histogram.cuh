// Level L5 (device): one read of the keys that counts every digit and sees whether they are sorted;
// its last block makes the plan. It also clears the tile words of the first pass.
// Invariant: leaves the counters of the workspace as it found them, zero.
#pragma once

#include <lookback/kernels/device/radix_watch.cuh>
#include <lookback/kernels/tile/lane_vector.cuh>

namespace lookback::device {

template <class Key>
struct histogram_shared {
    std::uint32_t counts[sizeof(Key)][digits];
    std::uint32_t flags[most_places];
    bool last;
};

/// Counts the digits of one ordered key.
template <class Key>
__device__ __forceinline__ void count_digits(const radix_shape& shape, Key ordered,
                                             histogram_shared<Key>& shared) {
#pragma unroll
    for (int place = 0; place < static_cast<int>(sizeof(Key)); ++place) {
        if (place >= shape.places) break;
        const auto shifted = static_cast<std::uint32_t>(ordered >> shape.shift(place));
        arch::count_up(&shared.counts[place][shifted & shape.digit_mask(place)]);
    }
}

/// A whole vector of keys at `at`, whose number is a multiple of the vector's items.
template <class Key>
__device__ __forceinline__ void count_vector(const radix_shape& shape,
                                             const tile::lane_vector<Key>& vector,
                                             const core::key_order<Key>& order, const Key* keys,
                                             index_t at, bool watching, order_watch& watch,
                                             histogram_shared<Key>& shared) {
    constexpr int items = tile::lane_vector<Key>::items;
    Key before{};
#pragma unroll
    for (int item = 0; item < items; ++item) {
        const Key ordered = order(vector.get(item));
        count_digits(shape, ordered, shared);
        if (watching) {
            const Key now = looked_at(shape, ordered);
            if (item > 0) watch.see(before, now);
            before = now;
        }
    }
    if (watching && at + items < shape.items) {
        watch.see(before, looked_at(shape, order(keys[at + items])));
    }
}

template <class Key>
__global__ void __launch_bounds__(tuning::histogram_threads, tuning::histogram_blocks_per_sm)
    radix_histogram(const Key* keys, radix_shape shape, core::key_order<Key> order,
                    radix_words words, bool aligned, const std::uint64_t* wanted) {
    if (wanted != nullptr && *wanted == 0) return;
    constexpr int threads = tuning::histogram_threads;
    constexpr int vectors = tuning::histogram_vectors;
    using vector = tile::lane_vector<Key>;
    __shared__ histogram_shared<Key> shared;
    const int thread = static_cast<int>(threadIdx.x);
    auto* counts = &shared.counts[0][0];
    for (int i = thread; i < static_cast<int>(sizeof(Key)) * digits; i += threads) counts[i] = 0;
    const index_t workers = index_t{gridDim.x} * threads;
    const index_t worker = index_t{arch::block_number()} * threads + thread;
    for (index_t i = worker; i < words.tile_words; i += workers) words.tiles[i] = 0;
    arch::sync_block();  // counts are clear

    order_watch watch;
    bool watching = true;  // the same in all lanes of a warp
    const index_t whole = aligned ? shape.items / vector::items : 0;
    for (index_t first = index_t{arch::block_number()} * threads * vectors; first < whole;
         first += workers * vectors) {
        vector items[vectors];
#pragma unroll
        for (int v = 0; v < vectors; ++v) {
            const index_t at = first + v * threads + thread;
            if (at < whole) items[v].load(keys + at * vector::items);
        }
#pragma unroll
        for (int v = 0; v < vectors; ++v) {
            const index_t at = first + v * threads + thread;
            if (at < whole) {
                count_vector(shape, items[v], order, keys, at * vector::items, watching, watch,
                             shared);
            }
        }
        if (watching) watching = watch.is_open();
    }
    for (index_t at = whole * vector::items + worker; at < shape.items; at += workers) {
        const Key ordered = order(keys[at]);
        count_digits(shape, ordered, shared);
        if (at + 1 < shape.items) {
            watch.see(looked_at(shape, ordered), looked_at(shape, order(keys[at + 1])));
        }
    }
    tell(watch, *words.header);
    arch::sync_block();  // all keys are counted
    for (int i = thread; i < shape.places * digits; i += threads) {
        if (counts[i] != 0) arch::add(&words.header->histogram[0][0] + i, counts[i]);
    }
    arch::fence();       // the counts come before the arrival
    arch::sync_block();  // all threads' counts are out
    if (thread == 0) {
        shared.last = arch::add(&words.header->arrived, 1) == gridDim.x - 1;
        arch::fence();  // what the others counted is seen after their arrival
    }
    arch::sync_block();  // it is known who is last
    if (shared.last) make_plan(shape, words, shared.flags);
}

}  // namespace lookback::device
