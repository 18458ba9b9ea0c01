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

/// How tiles of a pass are cut, and how they are staged in shared memory: first keys, then values,
/// so the wider of both bounds the tile.
template <class Key, class Value, int Threads, int Rows, int BlocksPerSm>
struct tile_policy {
    static constexpr int threads = Threads;
    static constexpr int warps = threads / 32;
    static constexpr int blocks_per_sm = BlocksPerSm;
    static constexpr std::size_t staged_bytes = sizeof(Key) > value_bytes<Value>
                                                    ? sizeof(Key)
                                                    : value_bytes<Value>;
    static constexpr int rows = Rows;
    static constexpr int tile_items = threads * rows;
    /// Runs of a digit are staged at slots congruent to their place in memory modulo so many items,
    /// so that 32-byte sectors are written whole: a pass over u32 keys took 0.89 ms without it,
    /// 0.76 with.
    static constexpr int run_alignment =
        staged_bytes <= 4 ? 8 : static_cast<int>(std::size_t{32} / staged_bytes);
    static constexpr int stage_items = tile_items + 256 * (run_alignment - 1);
    static constexpr int rounds = (stage_items + threads - 1) / threads;
};

template <class Key, class Value>
inline constexpr std::size_t widest_bytes = sizeof(Key) > value_bytes<Value> ? sizeof(Key)
                                                                             : value_bytes<Value>;

/// Two blocks of 512 threads an SM. On an H200, 2^28 pairs of u32 / of u64 with u32 took 9.4 / 24.3
/// ms; 10.0 / 29.4 with three blocks of 384 threads and 16 rows / 8; 10.5 / 29.7 with three of 256
/// and 24 / 12; 11.1 / 30.3 with four of 256 and 16 / 10.
template <class Key, class Value>
using radix_policy = tile_policy<Key, Value, 512,
                                 widest_bytes<Key, Value> <= 4   ? 20
                                 : widest_bytes<Key, Value> <= 8 ? 12
                                                                 : 8,
                                 2>;

/// Arrays that one block sorts by itself.
template <class Key, class Value>
using one_tile_policy = tile_policy<Key, Value, 512, 8, 1>;

/// Partition passes, in which equal keys may change places. On an H200 a tile of 16384 u32 keys was
/// 10 % faster than one of 8192. With 1024 threads of 16 keys the 32 registers spill.
template <class Key>
struct partition_policy {
    static constexpr int threads = 512;
    static constexpr int warps = threads / 32;
    static constexpr int blocks_per_sm = 2;
    static constexpr int rows = sizeof(Key) <= 4 ? 32 : 16;
    static constexpr int tile_items = threads * rows;
    static constexpr std::size_t staged_bytes = sizeof(Key);
    static constexpr int run_alignment = 32 / static_cast<int>(sizeof(Key));
    static constexpr int stage_items = tile_items + 256 * (run_alignment - 1);
    static constexpr int rounds = (stage_items + threads - 1) / threads;
};

/// One block sorts a bucket of at most tile_items keys: small blocks, because each clears and sums
/// a table of 256 counts a warp, but several an SM. A sort of 2^28 u32 took 4.33 ms with four
/// blocks an SM, 4.63 with three, on an H200; one of u64 7.3 ms with 256 threads of 24 rows, which
/// spill registers, and 6.6 with 512 of 12.
template <class Key>
struct bucket_policy {
    static constexpr int threads = sizeof(Key) <= 4 ? 256 : 512;
    static constexpr int warps = threads / 32;
    static constexpr int blocks_per_sm = sizeof(Key) <= 4 ? 4 : 2;
    static constexpr int rows = sizeof(Key) <= 4 ? 24 : 12;
    static constexpr int tile_items = threads * rows;
};

/// Blocks ask for the tile that so many tiles later another block will start with: half a wave of
/// an H200. Up to 10 % of a pass; 528 tiles ahead cost 20 %.
inline constexpr std::int64_t prefetch_tiles = 132;

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
