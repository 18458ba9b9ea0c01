// Tuning: how the kernels of a stable compaction are cut, each choice with the measurement that
// made it. Invariant: a policy is a constant, so that one kernel is compiled for each.
#pragma once

#include <lookback/kernels/tuning/scan.hpp>

#include <cstddef>

namespace lookback::tuning {

/// What every policy has: `rows` vectors a lane, as tile::lane_vector cuts them.
struct compact_policy {
    static constexpr int threads = 256;
    static constexpr int warps = threads / 32;
    static constexpr int rows = 8;
    static constexpr int blocks_per_sm = 4;
    static constexpr scan_walk walk = scan_walk::window;
};

/// Large inputs, by bytes a row.
template <std::size_t RowBytes>
struct large_compact : compact_policy {
    static constexpr int rows = RowBytes == 4 || RowBytes == 8 ? 12 : 8;
    static constexpr int blocks_per_sm = RowBytes == 4 || RowBytes == 8 ? 3 : 4;
};

/// Small inputs, in one group of tiles that all read each other's counts at once.
template <std::size_t RowBytes>
struct small_compact : compact_policy {
    static constexpr int rows = 4;
    static constexpr scan_walk walk = scan_walk::group;
};

/// Marks alone: 32 neighbouring rows of the input a lane.
struct mark_policy : compact_policy {
    static constexpr int rows = 2;
    static constexpr int blocks_per_sm = 6;
};

/// The rows before each of so many are counted where several columns move by one set of marks: what
/// a warp of mark_policy marks. The tiles of large_compact are whole numbers of it.
inline constexpr int offset_rows = mark_policy::rows * 32 * 32;

}  // namespace lookback::tuning
