// Tuning: how the kernels of a segmented scan and reduction are cut.
// Invariant: as tuning/scan.hpp.
#pragma once

#include <lookback/kernels/tuning/scan.hpp>

#include <cstddef>

namespace lookback::tuning {

/// Tiles by ticket: a helper would have to find the heads of the late tile too.
template <class T>
struct segmented_policy : scan_policy {
    static constexpr int rows = sizeof(T) <= 2 ? 4 : 8;
    static constexpr int blocks_per_sm = sizeof(T) == 1 ? 3 : 4;
    static constexpr tile_order order = tile_order::ticket;
    static constexpr combination combine = combination::in_order;
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
inline constexpr std::int64_t least_segmented_tile =
    std::int64_t{256} * segmented_policy<T>::rows*(sizeof(T) <= 16 ? 16 / sizeof(T) : 1);

/// Offsets come in chunks of so many. Where all of a chunk are equal (empty segments in one place),
/// nobody reads it through.
inline constexpr int offset_chunk = 1024;
/// A tile with more offsets than this takes them chunk by chunk.
inline constexpr int many_offsets = 32 * offset_chunk;
/// So many chunks a lane are looked at at once.
inline constexpr int chunk_batch = 4;

}  // namespace lookback::tuning
