// Level L5 (device): a partition pass in which equal keys may change places: keys go to the bucket
// of their next bits, whose room a tile reserves by one atomic a bucket. One read and one write a
// key. Invariant: for keys whose equal values are identical; no tile waits for another. Source:
// Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs" (2017).
#pragma once

#include <lookback/kernels/arch/prefetch.cuh>
#include <lookback/kernels/device/radix_buckets.cuh>

namespace lookback::device {

template <class P>
struct partition_shared {
    alignas(16) unsigned char stage[P::stage_items * P::staged_bytes];
    tile_runs runs;
    std::uint32_t cursors[digits];
};

/// A tile of keys, moved to their buckets; `room` has the buckets' cursors in global memory.
template <class P, class Key>
class partition_tile {
public:
    __device__ __forceinline__ partition_tile(partition_shared<P>& shared, int size)
        : shared_(shared),
          size_(size),
          first_(arch::warp() * P::rows * arch::warp_lanes + arch::lane()) {}

    __device__ __forceinline__ void load(const Key* from) {
        if (is_whole()) {
#pragma unroll
            for (int row = 0; row < P::rows; ++row)
                keys_[row] = from[first_ + row * arch::warp_lanes];
        } else {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                keys_[row] = Key{};
                if (is_item(row)) keys_[row] = from[first_ + row * arch::warp_lanes];
            }
        }
    }

    __device__ __forceinline__ void move(const digit_place<Key>& place, std::uint32_t* room,
                                         Key* to) {
        const int thread = static_cast<int>(threadIdx.x);
        if (thread < digits) shared_.runs.counts[thread] = 0;
        arch::sync_block();  // counts are clear
        // Rows of a short tile are not whole warps, as crowded rows must be.
        const bool crowded = is_whole() && block::is_crowded(place(keys_[P::rows / 2]));
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (is_item(row)) block::count_row(shared_.runs.counts, place(keys_[row]), crowded);
        }
        arch::sync_block();  // counts are whole
        index_t run_begin = 0;
        if (thread < digits && shared_.runs.counts[thread] != 0) {
            run_begin = arch::fetch_add(room + thread, shared_.runs.counts[thread]);
        }
        const std::uint32_t slot = lay_out_runs<P::run_alignment>(shared_.runs, run_begin);
        if (thread < digits) shared_.cursors[thread] = slot;
        arch::sync_block();  // runs and cursors are written
        Key* stage = reinterpret_cast<Key*>(shared_.stage);
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (is_item(row)) {
                stage[block::take_slots(shared_.cursors, place(keys_[row]), crowded)] = keys_[row];
            }
        }
        arch::sync_block();  // keys are staged
#pragma unroll
        for (int round = 0; round < P::rounds; ++round) {
            const auto at = static_cast<std::uint32_t>(round * P::threads) + threadIdx.x;
            if (P::stage_items % P::threads != 0 && at >= P::stage_items) break;
            const Key key = stage[at];
            const std::uint32_t digit = place(key);
            if (shared_.runs.holds(at, digit)) to[shared_.runs.offsets[digit] + at] = key;
        }
    }

private:
    __device__ __forceinline__ bool is_whole() const {
        return size_ == P::tile_items;
    }
    __device__ __forceinline__ bool is_item(int row) const {
        return first_ + row * arch::warp_lanes < size_;
    }

    partition_shared<P>& shared_;
    int size_;
    int first_;  ///< the thread's first item
    Key keys_[P::rows];
};

/// What another block will soon load: a whole tile, of [in, end).
template <class P, class Key>
__device__ __forceinline__ void prefetch_later_tile(const Key* in, const Key* end) {
    const Key* later = in + tuning::prefetch_tiles * P::tile_items;
    if (threadIdx.x == 0 && end - later >= P::tile_items) {
        arch::prefetch_to_l2(later, P::tile_items * sizeof(Key));
    }
}

template <class Key>
__device__ __forceinline__ digit_place<Key> bucket_place(const core::key_order<Key>& order,
                                                         int below, int bits) {
    return {order, 8 * static_cast<int>(sizeof(Key)) - below, (1U << bits) - 1};
}

/// By the first bits, any tile anywhere.
template <class P, class Key>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    partition_first(const Key* in, Key* out, index_t items, core::key_order<Key> order,
                    bucket_shape shape, bucket_words words, const radix_header* header) {
    if (header->by_buckets == 0) return;
    auto& shared = *static_cast<partition_shared<P>*>(arch::dynamic_shared());
    const core::tile_shape tiles{items, P::tile_items};
    const index_t tile = arch::block_number();
    partition_tile<P, Key> keys(shared, static_cast<int>(tiles.size(tile)));
    prefetch_later_tile<P>(in + tiles.begin(tile), in + items);
    keys.load(in + tiles.begin(tile));
    keys.move(bucket_place(order, shape.first_bits, shape.first_bits), words.first_cursors, out);
}

/// By the second bits: tiles of one first bucket each.
template <class P, class Key>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    partition_second(const Key* in, Key* out, core::key_order<Key> order, bucket_shape shape,
                     bucket_words words, const radix_header* header) {
    if (header->by_buckets == 0) return;
    auto& shared = *static_cast<partition_shared<P>*>(arch::dynamic_shared());
    const std::uint32_t tile = arch::block_number();
    const int firsts = 1 << shape.first_bits;
    if (tile >= words.first_tiles[firsts]) return;
    int first = 0;  // the last first bucket whose tiles begin at or before this one
    for (int step = firsts / 2; step > 0; step /= 2) {
        if (words.first_tiles[first + step] <= tile) first += step;
    }
    const int second_bits = shape.second_bits();
    const index_t from = words.begins[first << second_bits];
    const index_t to = words.begins[(first + 1) << second_bits];
    const core::tile_shape tiles{to - from, P::tile_items};
    const index_t own = tile - words.first_tiles[first];
    partition_tile<P, Key> keys(shared, static_cast<int>(tiles.size(own)));
    prefetch_later_tile<P>(in + from + tiles.begin(own), in + words.begins[shape.buckets()]);
    keys.load(in + from + tiles.begin(own));
    keys.move(bucket_place(order, shape.bits, second_bits), words.cursors + (first << second_bits),
              out);
}

}  // namespace lookback::device
