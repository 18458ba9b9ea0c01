// Level L5 (device): what a scan is told, how its tiles are cut, and the memory of a block that
// holds or turns one. Invariant: all of it follows from the policy and the item type.
#pragma once

#include <lookback/kernels/arch/lane.cuh>
#include <lookback/kernels/core/tile_shape.hpp>
#include <lookback/kernels/tile/lane_vector.cuh>
#include <lookback/kernels/tuning/scan.hpp>

#include <cstddef>

namespace lookback::device {

using core::index_t;

/// What every block of a scan is told.
template <class T>
struct scan_arguments {
    const T* in;
    T* out;
    index_t items;  ///< >= 1
    index_t tiles;  ///< tiles of tile_geometry::tile_items
    T init;         ///< read only where has_init
    bool has_init;
    bool exclusive;
    bool aligned_in;  ///< 16-byte accesses are allowed
    bool aligned_out;
};

template <class P, class T>
struct tile_geometry {
    using vector = tile::lane_vector<T>;
    static constexpr int row_items = arch::warp_lanes * vector::items;
    static constexpr int warp_items = P::rows * row_items;
    static constexpr int tile_items = P::warps * warp_items;
};

/// A value, or nothing: what precedes the first item. Where op has an identity, `present` is a
/// constant and all questions about it vanish.
template <class T, class Op>
struct preceding {
    static constexpr bool has_identity = requires { Op::template identity<T>(); };

    T value;
    bool present_;

    __device__ static preceding nothing() {
        if constexpr (has_identity) {
            return {Op::template identity<T>(), true};
        } else {
            return {T{}, false};
        }
    }
    __device__ bool present() const { return has_identity || present_; }
    __device__ T before(const T& later, Op op) const {
        return present() ? op(value, later) : later;
    }
    __device__ preceding then(const T& later, Op op) const { return {before(later, op), true}; }
};

/// Shared memory of a block for turning rows, or for keeping them, where the policy asks for it.
template <class P, class T>
struct turning_space {
    static constexpr bool needed = P::blocked || P::staged;
    static constexpr int row_cells = P::blocked ? arch::warp_lanes / 8 * 9 : arch::warp_lanes;
    uint4 warps[needed ? P::warps : 1][needed ? P::rows * row_cells : 1];

    __device__ uint4* own() { return warps[needed ? arch::warp() : 0]; }
};

/// Dynamic shared memory of a block.
template <class P, class T>
inline constexpr std::size_t staged_bytes = P::staged ? sizeof(turning_space<P, T>) : 0;

/// The left fold of values[0, count). A loop: unrolled, its reads cost registers that spill.
template <class T, class Op>
__device__ __forceinline__ T fold(const T* values, int count, Op op) {
    T total = values[0];
    for (int i = 1; i < count; ++i) total = op(total, values[i]);
    return total;
}

}  // namespace lookback::device
