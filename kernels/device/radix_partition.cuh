// Level L5 (device): the partitions by which keys alone come to their buckets, one or two.
// Invariant: for keys whose equal values are identical; no tile waits for another. Source:
// Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs" (2017).
#pragma once

#include <lookback/kernels/device/radix_buckets.cuh>
#include <lookback/kernels/device/radix_partition_tile.cuh>

namespace lookback::device {

/// By the first bits, any tile anywhere; from here on keys are ordered numbers.
template <class P, class Key>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    partition_first(const Key* in, Key* out, index_t items, core::key_order<Key> order,
                    bucket_shape shape, bucket_words words, const radix_header* header) {
    auto& shared = *static_cast<partition_shared<P>*>(arch::dynamic_shared());
    const span_tiles<P, Key> tiles(in, 0, items);
    partition_tile<P, Key> keys(shared, tiles, arch::block_number());
    keys.load();  // before it is known whether they are wanted: one wait less
    if (header->by_buckets == 0) return;
    keys.prefetch_later(in + items, tuning::prefetch_tiles);
    keys.to_ordered(order);
    const cell_map<Key> cells = words.state->template cells<Key>().coarse(shape.second_bits());
    keys.move(cells, words.state->clamps != 0, words.first_cursors, out);
}

/// By the second bits: tiles of one first bucket each.
template <class P, class Key>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    partition_second(const Key* in, Key* out, bucket_shape shape, bucket_words words,
                     const radix_header* header) {
    if (header->by_buckets == 0) return;
    auto& shared = *static_cast<partition_shared<P>*>(arch::dynamic_shared());
    const std::uint32_t tile = arch::block_number();
    const int firsts = 1 << shape.first_bits;
    if (tile >= words.first_tiles[firsts]) return;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < firsts && words.first_tiles[thread] <= tile &&
        tile < words.first_tiles[thread + 1]) {
        shared.tile = static_cast<std::uint32_t>(thread);
    }
    arch::sync_block();  // the tile's first bucket is known
    const std::uint32_t first = shared.tile;
    const int second_bits = shape.second_bits();
    const span_tiles<P, Key> tiles(in, words.begins[first << second_bits],
                                   words.begins[(first + 1) << second_bits]);
    partition_tile<P, Key> keys(shared, tiles, tile - words.first_tiles[first]);
    keys.load();
    keys.prefetch_later(in + words.begins[shape.buckets()], tuning::prefetch_tiles);
    const cell_map<Key> cells = words.state->template cells<Key>().fine(second_bits, first);
    keys.move(cells, words.state->clamps != 0, words.cursors + (first << second_bits), out);
}

}  // namespace lookback::device
