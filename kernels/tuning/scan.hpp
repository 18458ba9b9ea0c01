// Tuning: how the kernels of a scan are cut, each choice with the measurement that made it.
// Invariant: a policy is a constant, so that one kernel is compiled for each and none pays for
// another's options.
#pragma once

#include <lookback/kernels/core/reproducible_tree.hpp>

namespace lookback::tuning {

/// In which order blocks take tiles.
enum class tile_order {
    ticket,  ///< by an atomic counter: every earlier tile has a running block
    block,   ///< by block number: no counter to wait for, but late tiles must be helped
};

/// How a tile learns what precedes it.
enum class scan_walk {
    window,  ///< 32 earlier tiles at a time until a prefix is met
    group,   ///< all earlier tiles of its fixed group at once, and the prefix of the group
};

/// In which order items are combined.
enum class combination {
    any,         ///< op commutes: totals first, in whichever order is fastest
    in_order,    ///< op does not commute
    fixed_tree,  ///< the tree of core/reproducible_tree.hpp
};

/// What every policy has; one derives from it and hides what it sets otherwise.
struct scan_policy {
    static constexpr int threads = 256;
    static constexpr int warps = threads / 32;
    static constexpr int rows = 8;           ///< lane vectors (16 bytes) that a thread holds
    static constexpr int blocks_per_sm = 4;  ///< bounds the registers: 64 a thread
    static constexpr tile_order order = tile_order::block;
    static constexpr scan_walk walk = scan_walk::window;
    static constexpr combination combine = combination::any;
    /// Lanes hold neighbouring vectors, turned through shared memory: one warp scan a tile instead
    /// of one a row, for operators and items that are costly to combine and to shuffle.
    static constexpr bool blocked = false;
    /// Items wait in shared memory, not in registers, so that more of them can be under way.
    static constexpr bool staged = false;
};

// Rows of a thread and blocks an SM, by item size. On an H200, of the speed of a copy of 2^28
// items, staged in shared memory or held in registers (which spill 4 to 100 bytes where they reach
// more):
//
//   f32        staged: 12 rows, 4 blocks 0.982; 16, 3 0.979; 8, 5 0.978; 8, 6 0.973
//              registers: 13, 3 0.985; 9, 4 0.977; 12, 3 0.975; a block of 12 warps 0.90-0.97
//   i32 max    staged: 13, 4 0.982; 12, 4 0.980; 8, 5 0.977.   registers: 13, 3 0.975; 12, 3 0.968
//   u64        staged: 12, 4 0.974; 8, 6 0.965; 8, 5 0.951.    registers: 8, 4 0.963; 12, 3 0.955
//   f64        staged: 12, 4 0.966; 8, 6 0.964; 16, 3 0.961; 8, 5 0.949; 12, 3 0.941
//              registers: 8, 4 0.955; 9, 4 0.947; 7, 4 0.944; 4 to 16 warps a block 0.87-0.94
//   2 bytes, 1 byte, registers: 8, 4 0.955, 0.886; 10, 3 0.926, 0.887; staged 8, 5 0.960, 0.824
//
//   u32 of 2^22, 2^23, 2^24 items, staged: 12, 4 0.739, 0.836, 0.909; 8, 6 0.774, 0.863, 0.926;
//   6, 6 0.755, 0.866, 0.920; registers 12, 3 0.745, 0.855, 0.906: larger inputs decide
//
//   16 bytes, an operator of six multiplications, blocked:
//              staged: 8, 5 0.918; 8, 4 and 8, 3 0.892; blocks of 4 warps 0.88-0.89; 4, 6 0.781
//              registers: 8, 3 0.830-0.855; no spill at 9 rows of 4 warps, 5 blocks: 0.815

/// Items in registers.
template <class T>
struct register_policy : scan_policy {
    static constexpr int rows = sizeof(T) == 4 ? 12 : sizeof(T) <= 16 ? 8 : 4;
    static constexpr int blocks_per_sm = sizeof(T) == 4 || sizeof(T) > 8 ? 3 : 4;
    static constexpr bool blocked = sizeof(T) == 16;
};

/// Items in shared memory, where they fill vectors and are not small.
template <class T>
struct row_policy : register_policy<T> {
    static constexpr bool staged = 16 % sizeof(T) == 0 && sizeof(T) >= 4;
    static constexpr int rows = staged && sizeof(T) < 16 ? 12 : register_policy<T>::rows;
    static constexpr int blocks_per_sm = !staged           ? register_policy<T>::blocks_per_sm
                                         : sizeof(T) == 16 ? 5
                                                           : 4;
};

/// Look-back by block order with helping: the default for large inputs.
template <class T>
struct fallback_scan : row_policy<T> {};

/// Look-back by ticket: no helping, one atomic round trip before the first load.
template <class T>
struct ticket_scan : row_policy<T> {
    static constexpr tile_order order = tile_order::ticket;
};

/// Three launches, and the barrier of a grid: a block has tile after tile.
template <class T>
struct pass_scan : register_policy<T> {};

/// Fixed groups of 256 tiles, read at once. 2^20 u32 take 6.05 us with 8 rows and 3 blocks an SM,
/// 6.8 with 12 rows, 7.0 with small_scan, 6.6-6.9 by look-back over windows; from 2^22 on windows
/// are as fast or faster.
template <class T>
struct bounded_scan : scan_policy {
    static constexpr int rows = sizeof(T) <= 16 ? 8 : 4;
    static constexpr int blocks_per_sm = 3;
    static constexpr scan_walk walk = scan_walk::group;
    static constexpr bool blocked = sizeof(T) == 16;
};

/// Small inputs: small tiles, so that many SMs share them, all in one group. u32 of 2^14, 2^18
/// items: 2 rows 5.2, 5.2 us; 1 row 4.7, 5.7; 4 rows 5.1, 5.5; 8 rows 5.4, 5.5.
template <class T>
struct small_scan : scan_policy {
    static constexpr int rows = 2;
    static constexpr scan_walk walk = scan_walk::group;
};

/// Reproducible sums: the tree's own tile. Of the speed of a copy, staged or in registers: f32
/// staged, 4 blocks 0.958, 3 0.938; registers, 3 0.949. f64 staged, 3 0.910, 2 0.873; registers, 2
/// 0.910-0.916. By ticket 0.913, 0.900.
template <class T>
struct reproducible_scan : scan_policy {
    using tree = core::reproducible_tree<sizeof(T)>;
    static constexpr int threads = tree::warps * tree::lanes;
    static constexpr int warps = tree::warps;
    static constexpr int rows = tree::rows;
    static constexpr bool staged = sizeof(T) <= 4;
    static constexpr int blocks_per_sm = staged ? 4 : 2;
    static constexpr scan_walk walk = scan_walk::group;
    static constexpr combination combine = combination::fixed_tree;
};

/// The same kernel for operators that do not commute. Items of 8 bytes: blocked, staged, 6 blocks
/// of 8 rows 0.948; registers, 4 blocks 0.943; not blocked 0.915. More than 8 rows would meet in
/// banks.
template <class Policy, class T>
struct in_order : Policy {
    static constexpr combination combine = combination::in_order;
    static constexpr bool blocked = sizeof(T) == 8 || sizeof(T) == 16;
    static constexpr bool shortened = blocked && Policy::staged && Policy::rows > 8;
    static constexpr int rows = shortened ? 8 : Policy::rows;
    static constexpr int blocks_per_sm = shortened ? 6 : Policy::blocks_per_sm;
};

/// Up to so many bytes of items one group of small_scan's tiles is the fastest, and up to
/// `middle_bytes` one group of bounded_scan's.
inline constexpr std::int64_t small_bytes = 256 * 256 * 2 * 16;
inline constexpr std::int64_t middle_bytes = 256 * 256 * 8 * 16;

}  // namespace lookback::tuning
