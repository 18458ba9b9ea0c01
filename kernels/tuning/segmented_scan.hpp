// Tuning: how the kernels of a segmented scan and reduction are cut.
// Invariant: as tuning/scan.hpp.
#pragma once

#include <lookback/kernels/tuning/scan.hpp>

#include <cstddef>

namespace lookback::tuning {

// u32 sums of 2^28 items on an H200, of the time of a copy of as many bytes (8 an item, or 4, and
// 8 an offset, 4 a total). Segments of 4, 100, 1e5 items.
//
//   scan, by rows: 8 warps of 8 rows, 4 blocks an SM 0.948, 0.907, 0.918. With lanes that hold
//   neighbouring items: 3 blocks 0.962, 0.821, 0.821; 4 warps, 8 blocks 0.921, 0.882, 0.879
//
//   reduction, by rows as the scan: 0.72, 0.66, 0.69; by tiles of 4 warps whose lanes hold
//   neighbouring items, a block a tile: 0.783, 0.768, 0.803, where a warp had to wait for barriers
//   and for the next tile's memory. By strips, of segments of 4, 100, of one, and of 0 to 10 items:
//
//     warps, rows, stages, strips, blocks
//     4, 4, 2, 16, 7   0.924, 0.893, 0.922, 0.916      4, 4, 3, 16, 5  0.926, 0.888, 0.930, 0.911
//     4, 4, 2, 12, 7   0.930, 0.893, 0.909, 0.917      2, 4, 2, 16, 14 0.923, 0.892, 0.917, 0.913
//     4, 4, 2, 24, 7   0.922, 0.892, 0.924, 0.911      2, 8, 2, 8, 9   0.908, 0.897, 0.913, 0.898
//     3, 8, 2, 8, 6    0.913, 0.901, 0.922, 0.911 (0.57 where all segments are of one item: 0.89)
//
//   A ring of 256 offsets costs 4 %; without the early start all lose 1 %. One process differs
//   from the next by 1 %.

/// Scan. Tiles by ticket: a helper would have to find the heads of the late tile too.
template <class T>
struct segmented_policy : scan_policy {
    static constexpr int rows = sizeof(T) == 1 ? 4 : 8;
    static constexpr int blocks_per_sm = sizeof(T) == 4 ? 4 : 3;
    static constexpr tile_order order = tile_order::ticket;
    static constexpr combination combine = combination::in_order;
    static constexpr bool by_strips = false;  ///< reductions stream through a tile, a warp alone
};

/// Reduction: a tile is `strips` strips of `rows` vectors a lane.
template <class T>
struct segmented_totals : segmented_policy<T> {
    static constexpr bool by_strips = 16 % sizeof(T) == 0;
    static constexpr int threads = by_strips ? 128 : 256;
    static constexpr int warps = threads / 32;
    static constexpr int rows = by_strips ? 4 : 8;
    static constexpr int blocks_per_sm = by_strips ? 7 : 3;
    static constexpr int strips = 16;
    static constexpr int stages = 2;  ///< strips in shared memory: one is combined, others come
    static constexpr int ring = 512;  ///< offsets in shared memory, a power of 2
};

/// Reproducible sums: the tree's own tile, and fixed groups of tiles.
template <class T>
struct segmented_reproducible : reproducible_scan<T> {
    static constexpr bool staged = false;
    static constexpr int blocks_per_sm = 2;
    static constexpr tile_order order = tile_order::ticket;
    static constexpr bool by_strips = false;
};

/// The least tile of any segmented policy, in items.
template <class T>
inline constexpr std::int64_t least_segmented_tile = [] {
    constexpr std::int64_t lane = 32 * (sizeof(T) <= 16 ? 16 / sizeof(T) : 1);
    using scan = segmented_policy<T>;
    using totals = segmented_totals<T>;
    const std::int64_t of_scan = lane * scan::rows * scan::warps;
    const std::int64_t of_totals =
        lane * totals::rows * (totals::by_strips ? totals::strips : totals::warps);
    return of_scan < of_totals ? of_scan : of_totals;
}();

/// Offsets come in chunks of so many. Where all of a chunk are equal (empty segments in one place),
/// nobody reads it through.
inline constexpr int offset_chunk = 1024;
/// A tile with more offsets than this takes them chunk by chunk.
inline constexpr int many_offsets = 32 * offset_chunk;

}  // namespace lookback::tuning
