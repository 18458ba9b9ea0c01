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
};

/// Look-back by block order with helping: the default for large inputs.
struct fallback_scan : scan_policy {};

/// Look-back by ticket: no helping, one atomic round trip before the first load.
struct ticket_scan : scan_policy {
    static constexpr tile_order order = tile_order::ticket;
};

/// Fixed groups of 256 tiles, read at once.
struct bounded_scan : scan_policy {
    static constexpr scan_walk walk = scan_walk::group;
};

/// Small inputs: small tiles, so that many SMs share them, all in one group.
struct small_scan : scan_policy {
    static constexpr int rows = 2;
    static constexpr scan_walk walk = scan_walk::group;
};

/// Reproducible sums: the tree's own tile.
template <class T>
struct reproducible_scan : scan_policy {
    using tree = core::reproducible_tree<sizeof(T)>;
    static constexpr int threads = tree::warps * tree::lanes;
    static constexpr int warps = tree::warps;
    static constexpr int rows = tree::rows;
    static constexpr int blocks_per_sm = 3;
    static constexpr scan_walk walk = scan_walk::group;
    static constexpr combination combine = combination::fixed_tree;
};

/// The same kernel for operators that do not commute.
template <class Policy>
struct in_order : Policy {
    static constexpr combination combine = combination::in_order;
};

/// Up to so many bytes of items small_scan is the faster: one group of its tiles.
inline constexpr std::int64_t small_bytes = 256 * 256 * 2 * 16;

}  // namespace lookback::tuning
