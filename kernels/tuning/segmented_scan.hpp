// Tuning: how the kernels of a segmented scan and reduction are cut.
// Invariant: as tuning/scan.hpp.
#pragma once

#include <lookback/kernels/tuning/scan.hpp>

#include <cstddef>

namespace lookback::tuning {

// u32 sums of 2^28 items on an H200, of the time of a copy of as many bytes (8 an item, or 4, and
// 8 an offset, 4 a total). Lanes hold neighbouring items ("runs") or rows are scanned one by one.
// Warps, rows, blocks an SM; segments of 4, 100, 1e5 items:
//
//   scan:   8, 8, 4 rows 0.948, 0.907, 0.918; 8, 8, 3 runs 0.962, 0.821, 0.821;
//           4, 8, 8 runs 0.921, 0.882, 0.879; 8, 8, 4 runs 0.895, 0.860, 0.865;
//           8, 4, 6 runs 0.691, 0.657, 0.655
//   reduce: 4, 8, 8 runs 0.783, 0.768, 0.803; 8, 8, 4 runs 0.737, 0.755, 0.789;
//           8, 4, 6 runs 0.755, 0.635, 0.677; 8, 8, 4 rows 0.685, 0.651, 0.689

/// Scan. Tiles by ticket: a helper would have to find the heads of the late tile too.
template <class T>
struct segmented_policy : scan_policy {
    static constexpr int rows = sizeof(T) == 1 ? 4 : 8;
    static constexpr int blocks_per_sm = sizeof(T) == 4 ? 4 : 3;
    static constexpr tile_order order = tile_order::ticket;
    static constexpr combination combine = combination::in_order;
};

/// Reduction: one pass over the items of a lane, no results to write but those at ends.
template <class T>
struct segmented_totals : segmented_policy<T> {
    static constexpr int threads = 128;
    static constexpr int warps = 4;
    static constexpr int rows = sizeof(T) <= 2 ? 4 : 8;
    static constexpr int blocks_per_sm = sizeof(T) == 1 ? 6 : 8;
    static constexpr bool blocked = 16 % sizeof(T) == 0;
};

/// Reproducible sums: the tree's own tile, and fixed groups of tiles.
template <class T>
struct segmented_reproducible : reproducible_scan<T> {
    static constexpr int blocks_per_sm = 2;
    static constexpr tile_order order = tile_order::ticket;
};

/// The least tile of any segmented policy, in items.
template <class T>
inline constexpr std::int64_t least_segmented_tile = std::int64_t{segmented_totals<T>::threads} *
                                                     segmented_totals<T>::rows*(sizeof(T) <= 16
                                                                                    ? 16 / sizeof(T)
                                                                                    : 1);

/// Offsets come in chunks of so many. Where all of a chunk are equal (empty segments in one place),
/// nobody reads it through.
inline constexpr int offset_chunk = 1024;
/// A tile with more offsets than this takes them chunk by chunk.
inline constexpr int many_offsets = 32 * offset_chunk;
/// So many chunks a lane are looked at at once.
inline constexpr int chunk_batch = 4;

}  // namespace lookback::tuning
