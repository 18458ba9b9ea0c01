// Tuning: how the kernels of a radix sort are cut, each choice with the measurement that made it.
// Invariant: a policy is a constant; digits have 8 bits.
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstddef>
#include <type_traits>

namespace lookback::tuning {

/// Stands for the payload of a sort of keys alone.
struct no_value {};

template <class Value>
inline constexpr std::size_t value_bytes = std::is_same_v<Value, no_value> ? 0 : sizeof(Value);

/// Shared memory that a block can have (sm_90).
inline constexpr std::size_t most_shared_bytes = 227 * 1024;

/// How tiles of a pass are cut: so many workers, who move so many rows each, and four warps that
/// help.
template <int Workers, int Rows, int BlocksPerSm>
struct tile_policy {
    static constexpr int workers = Workers;
    static constexpr int helpers = 128;
    static constexpr int threads = workers + helpers;
    static constexpr int warps = workers / 32;
    static constexpr int blocks_per_sm = BlocksPerSm;
    static constexpr int rows = Rows;
    static constexpr int tile_items = workers * rows;
};

/// Of a key and its value.
template <class Key, class Value>
inline constexpr std::size_t pair_bytes = sizeof(Key) + value_bytes<Value>;

/// One block an SM, and in it as many items as shared memory holds: longer runs are written in
/// fewer parts of sectors. On an H200, 2^28 pairs of u32 took 7.0 ms, of u64 25.0; 8.1 and 28.5
/// with two blocks of 384 workers and tiles of half the size, 7.3 with 768 workers of 20 rows.
template <class Key, class Value>
using radix_policy = tile_policy<896,
                                 pair_bytes<Key, Value> <= 4    ? 24
                                 : pair_bytes<Key, Value> <= 8  ? 18
                                 : pair_bytes<Key, Value> <= 12 ? 13
                                 : pair_bytes<Key, Value> <= 16 ? 10
                                                                : 6,
                                 1>;

/// How one block sorts an array in shared memory.
template <int Threads, int Rows, int BlocksPerSm>
struct local_policy {
    static constexpr int threads = Threads;
    static constexpr int warps = threads / 32;
    static constexpr int blocks_per_sm = BlocksPerSm;
    static constexpr int rows = Rows;
    static constexpr int tile_items = threads * rows;
};

/// Arrays that one block sorts by itself: 0.014 ms for 2^12 pairs of u32 on an H200, 0.026 with
/// the passes of larger arrays.
template <class Key, class Value>
using one_tile_policy = local_policy<1024, 6, 1>;

/// Buckets of a stable sort, of 4096 items or fewer on average. Two digits of the key sort them,
/// bound by shared memory: 84 % of its wavefronts for pairs of u32 on an H200. Fewer warps have
/// fewer tables of counts: 2^28 such pairs took 5.54 ms with 256 threads, 5.65 with 384.
template <class Key, class Value>
using stable_bucket_policy =
    std::conditional_t<(pair_bytes<Key, Value> <= 8), local_policy<256, 18, 3>,
                       local_policy<512, 9, (pair_bytes<Key, Value> <= 16 ? 2 : 1)>>;

/// Partition passes, in which equal keys may change places. On an H200 a tile of 16384 u32 keys was
/// 10 % faster than one of 8192. A thread loads so many vectors of 16 bytes.
template <class Key, int Threads, int Vectors, int BlocksPerSm>
struct partition_tile_policy {
    static constexpr int threads = Threads;
    static constexpr int warps = threads / 32;
    static constexpr int blocks_per_sm = BlocksPerSm;
    static constexpr int vectors = Vectors;
    static constexpr int rows = vectors * static_cast<int>(16 / sizeof(Key));
    static constexpr int tile_items = threads * rows;
    static constexpr std::size_t staged_bytes = sizeof(Key);
    static constexpr int run_alignment = 32 / static_cast<int>(sizeof(Key));
    /// Slots are written out in rounds, four at a time.
    static constexpr int rounds =
        ((tile_items + 256 * (run_alignment - 1) + threads - 1) / threads + 3) / 4 * 4;
    static constexpr int stage_items = rounds * threads;
};

/// One block sorts up to tile_items keys: in bins by their next bits, then in windows of 16 keys.
/// Keys whose windows do not meet in order after most_rounds are sorted by passes.
template <class Key, int Threads, int Rows, int BinBits, int BlocksPerSm>
struct window_policy {
    static constexpr int threads = Threads;
    static constexpr int warps = threads / 32;
    static constexpr int blocks_per_sm = BlocksPerSm;
    static constexpr int rows = Rows;
    static constexpr int tile_items = threads * rows;
    static constexpr int bin_bits = BinBits;
    static constexpr int bins = 1 << bin_bits;
    static constexpr int most_rounds = 4;
    static constexpr int stage_items = (tile_items + 15) / 16 * 16 + 16;
};

/// Keys alone that one block sorts by itself.
template <class Key>
using single_block_policy = window_policy<Key, 1024, 16, 13, 1>;

/// How keys alone are cut: partitions, buckets of a block each, what is too large for that. Groups
/// are sorted by a launch of their own: beside the partitions of uneven keys they would spill.
template <class Key>
struct key_sort_cut {
    using partition = partition_tile_policy<Key, 512, 8, 2>;
    using bucket = window_policy<Key, 256, 20, 11, sizeof(Key) <= 4 ? 5 : 3>;
    using group = window_policy<Key, 512, 16, 12, 2>;
    using uneven_partition = partition_tile_policy<Key, 512, 8, 2>;
    static constexpr bool groups_apart = true;
};

/// Up to so many keys small tiles are better: large ones would leave multiprocessors idle. A launch
/// less counts for more than spilled registers.
inline constexpr std::int64_t small_sort_items = std::int64_t{1} << 20;
template <class Key>
struct small_key_sort_cut {
    using partition = partition_tile_policy<Key, 256, 2, 4>;
    using bucket = key_sort_cut<Key>::bucket;
    using group = window_policy<Key, 512, 12, 11, 2>;
    using uneven_partition = partition_tile_policy<Key, 512, 2, 2>;
    static constexpr bool groups_apart = false;
};

/// Blocks ask for the tile that so many tiles later another block will start with: half a wave of
/// an H200. Up to 10 % of a pass; 528 tiles ahead cost 20 %.
inline constexpr int prefetch_tiles = 132;

/// Keys of a bucket on average, at most: buckets of even keys then stay well inside one block.
inline constexpr std::int64_t bucket_items = 4096;
/// Bits of a key that make buckets, at most: 2^16 counters of 16 bits fill a block's shared memory.
inline constexpr int most_bucket_bits = 16;
inline constexpr int bucket_histogram_threads = 1024;

/// The histogram: blocks an SM, and 16-byte vectors that a thread has in flight.
inline constexpr int histogram_threads = 512;
inline constexpr int histogram_blocks_per_sm = 3;
inline constexpr int histogram_vectors = 4;

/// Items of one launch of a pass: counts in tile words have 30 bits.
inline constexpr std::int64_t portion_items = std::int64_t{1} << 29;

}  // namespace lookback::tuning
