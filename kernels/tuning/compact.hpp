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

// Rows of a lane and blocks an SM of large inputs. On an H200, of the speed of a copy of as many
// bytes, 2^30 bytes of rows:
//
//   4 bytes, a comparison, 1, 10, 50 % kept: 14, 3 0.995, 0.976, 0.991; 10, 4 0.965, 0.952, 0.995;
//   8, 5 0.947, -, 0.982; 12, 3 0.950, -, 0.978; 12, 4 0.850, -, 0.883 (it spills)
//
//   Flags as bytes, 10, 50 % kept. 4 bytes: 10, 4 0.973, 1.000; 8, 5 0.973, 0.983; 6, 6 0.899,
//   0.923. 8 bytes: 10, 4 0.952, 0.975; 8, 5 0.900, 0.913. 16 bytes: 10, 4 0.934, 0.952; 8, 5
//   0.922, 0.928
//
//   Numbers of rows, 10, 50 % kept: 4, 5 0.733, 0.919; 8, 3 0.753, 0.902

/// Rows that are marked by what is in them.
template <std::size_t RowBytes>
struct large_compact : compact_policy {
    static constexpr int rows = RowBytes == 4 ? 14 : RowBytes >= 8 ? 10 : 8;
    static constexpr int blocks_per_sm = RowBytes == 4 ? 3 : 4;
};

/// Rows that are marked by flags.
template <std::size_t RowBytes>
struct large_by_flags : compact_policy {
    static constexpr int rows = RowBytes >= 4 ? 10 : 8;
};

/// Rows that move by marks; tiles are whole numbers of offset_rows.
template <std::size_t RowBytes>
struct marked_column : compact_policy {
    static constexpr int blocks_per_sm = RowBytes >= 4 ? 5 : 4;
};

/// Small inputs, in one group of tiles that all read each other's counts at once. u32 of 2^10,
/// 2^14, 2^18 items: 2 rows 4.1, 4.8, 5.3 us; 4 rows 4.2, 5.0, 5.2; 8 rows 4.7, 5.6, 5.7.
struct small_compact : compact_policy {
    static constexpr int rows = 2;
    static constexpr scan_walk walk = scan_walk::group;
};

/// The same for more: 2^20, 2^21 items: 6.6, 7.6 us; by windows with 10 rows 7.6, 8.9.
struct middle_compact : small_compact {
    static constexpr int rows = 8;
};

/// Numbers of rows, 16 neighbours a lane.
struct number_rows : compact_policy {
    static constexpr int rows = 4;
    static constexpr int blocks_per_sm = 5;
};
struct small_number_rows : small_compact {
    static constexpr int rows = 1;
};

/// Marks alone: 32 neighbouring rows of the input a lane.
struct mark_policy : compact_policy {
    static constexpr int rows = 2;
    static constexpr int blocks_per_sm = 6;
};

/// The same where an expression marks the rows: its steps need 64 registers, and so does a test of
/// 32 rows a lane.
struct program_policy : mark_policy {
    static constexpr int blocks_per_sm = 4;
};

/// The rows before each of so many are counted where several columns move by one set of marks: what
/// a warp of mark_policy marks. The tiles of marked_column are whole numbers of it.
inline constexpr int offset_rows = mark_policy::rows * 32 * 32;

}  // namespace lookback::tuning
