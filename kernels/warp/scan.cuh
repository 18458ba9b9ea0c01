// Level L2 (warp): scans and reductions over the lanes of a warp, one value a lane.
// Invariant: op is applied in lane order, so it need not commute (except in `reduce_any_order`).
// Source: Kogge and Stone (1973); Harris, Sengupta, Owens, "Parallel prefix sum with CUDA" (2007).
#pragma once

#include <lookback/kernels/arch/lane.cuh>

namespace lookback::warp {

using arch::warp_lanes;

/// Lane i gets op over lanes first..i, by steps of 1, 2, 4, 8, 16; lanes before `first` keep their
/// value. The tree depends on i - first alone.
template <class T, class Op>
__device__ __forceinline__ T inclusive_scan(T value, Op op, int first = 0) {
    const int lane = arch::lane() - first;
#pragma unroll
    for (int step = 1; step < warp_lanes; step *= 2) {
        const T earlier = arch::shuffle_up(value, step);
        if (lane >= step) value = op(earlier, value);
    }
    return value;
}

/// op over all lanes, in every lane, combined in no particular order: for operators that commute.
template <class T, class Op>
__device__ __forceinline__ T reduce_any_order(T value, Op op) {
#pragma unroll
    for (int step = warp_lanes / 2; step > 0; step /= 2) {
        value = op(value, arch::shuffle_xor(value, step));
    }
    return value;
}

}  // namespace lookback::warp
