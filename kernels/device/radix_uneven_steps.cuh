// Level L5 (device): what a block does with a tile or a group of keys that no bucket's block could
// sort. Invariant: keys are ordered numbers whose equal values are identical.
#pragma once

#include <lookback/kernels/device/radix_bucket_sort.cuh>
#include <lookback/kernels/device/radix_partition_tile.cuh>

namespace lookback::device {

template <class Cut, class Key>
struct uneven_shared {
    union {
        group_shared<typename Cut::group, Key> group;
        partition_shared<typename Cut::uneven_partition> tile;
        std::uint32_t sizes[Cut::group::warps][digits];  ///< of the cells of a warp's segment
        std::uint32_t begins[digits];  ///< of the cells of a segment of one value each
    };
    std::uint32_t sums[Cut::group::warps];
};

/// What sort_uneven() works on.
template <class Key>
struct uneven_keys {
    Key* keys;  ///< the result
    Key* other;
    bool from_other;  ///< where buckets lie
    index_t items;
    core::key_order<Key> order;
};

/// The least and the greatest of some keys of a segment; by a warp.
template <class Key>
__device__ __forceinline__ void sample_segment(const Key* from, const key_segment& segment,
                                               Key& low, Key& high) {
    constexpr int samples = 8;
    const Key* keys = from + segment.begin;
    low = static_cast<Key>(~Key{0});
    high = 0;
#pragma unroll
    for (int i = 0; i < samples; ++i) {
        const auto number = static_cast<std::uint64_t>(i * arch::warp_lanes + arch::lane());
        const Key key = keys[number * segment.size / (samples * arch::warp_lanes)];
        low = key < low ? key : low;
        high = key < high ? high : key;
    }
    low = warp::reduce_any_order(low, [](Key a, Key b) { return a < b ? a : b; });
    high = warp::reduce_any_order(high, [](Key a, Key b) { return a < b ? b : a; });
}

/// The work on a group or a tile, out of line: what the caller holds in registers is put aside
/// once, where the compiler would else spill it again and again. Shared memory is no parameter,
/// since the compiler must see that it is shared.
template <class Cut, class Key>
struct uneven_steps {
    using group = typename Cut::group;
    using partition = typename Cut::uneven_partition;
    using span = span_tiles<partition, Key>;

    __device__ __forceinline__ static uneven_shared<Cut, Key>& shared() {
        return *static_cast<uneven_shared<Cut, Key>*>(arch::dynamic_shared());
    }
    __device__ __attribute__((noinline)) static void sort(const Key* from, Key* to, int size,
                                                          core::key_order<Key> order) {
        sort_group<group, Key>(
            shared().group, from, to, size, [](Key key) { return key; },
            [&](Key ordered) { return order.restored(ordered); });
    }
    /// Adds up the tile; true if this thread saw keys outside of the cells.
    __device__ __attribute__((noinline)) static bool count(span tiles, std::uint32_t tile,
                                                           cell_map<Key> cells, bool clamps) {
        partition_tile<partition, Key> keys(shared().tile, tiles, tile);
        keys.load();
        keys.prefetch_later(tiles.buffer + tiles.end, 1);  // by this block
        keys.count(cells, clamps);
        return clamps && keys.any_outside(cells);
    }
    __device__ __attribute__((noinline)) static void move(span tiles, std::uint32_t tile,
                                                          cell_map<Key> cells, bool clamps,
                                                          std::uint32_t* room, Key* to) {
        partition_tile<partition, Key> keys(shared().tile, tiles, tile);
        keys.load();
        keys.prefetch_later(tiles.buffer + tiles.end, 1);
        keys.move(cells, clamps, room, to);
        arch::sync_block();  // what was staged is read
    }
};

/// The groups that all others left: as many blocks as run at once.
template <class P, class Key>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    sort_groups(uneven_keys<Key> arguments, bucket_words words, const radix_header* header) {
    if (header->by_buckets == 0) return;
    const std::uint32_t count = words.state->groups;
    auto& shared = *static_cast<group_shared<P, Key>*>(arch::dynamic_shared());
    for (std::uint32_t i = arch::block_number(); i < count; i += gridDim.x) {
        const key_group own = words.groups[i];
        const Key* from = own.in_other() ? arguments.other : arguments.keys;
        sort_group<P, Key>(
            shared, from + own.begin, arguments.keys + own.begin, static_cast<int>(own.size()),
            [](Key key) { return key; },
            [&](Key ordered) { return arguments.order.restored(ordered); });
    }
}

}  // namespace lookback::device
