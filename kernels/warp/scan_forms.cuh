// Level L2 (warp): inclusive scans over the lanes of a warp in three forms of one primitive,
// interchangeable: which pairs of lanes meet in which step. The project uses the first.
// Invariant: op is applied in lane order and needs no identity.
// Source: Kogge and Stone (1973); Brent and Kung (1982); Sklansky (1960).
#pragma once

#include <lookback/kernels/warp/scan.cuh>

namespace lookback::warp {

/// Each lane adds its neighbour at distance 1, 2, 4, 8, 16: five steps, every lane in each.
struct kogge_stone {
    template <class T, class Op>
    __device__ static T inclusive(T value, Op op) {
        return inclusive_scan(value, op);
    }
};

/// The upper half of each 2, 4, 8, 16, 32 lanes adds the lower half's last: five steps, half the
/// lanes in each.
struct sklansky {
    template <class T, class Op>
    __device__ static T inclusive(T value, Op op) {
        const int lane = arch::lane();
#pragma unroll
        for (int half = 1; half < warp_lanes; half *= 2) {
            const T earlier = arch::shuffle(value, (lane & ~(half - 1)) - 1);
            if ((lane & half) != 0) value = op(earlier, value);
        }
        return value;
    }
};

/// Up a binary tree and down again: nine steps, 57 combinations in all, the least.
struct brent_kung {
    template <class T, class Op>
    __device__ static T inclusive(T value, Op op) {
        const int place = arch::lane() + 1;
#pragma unroll
        for (int step = 1; step < warp_lanes; step *= 2) {
            const T earlier = arch::shuffle_up(value, step);
            if (place % (2 * step) == 0) value = op(earlier, value);
        }
#pragma unroll
        for (int step = warp_lanes / 4; step > 0; step /= 2) {
            const T earlier = arch::shuffle_up(value, step);
            if (place > step && place % (2 * step) == step) value = op(earlier, value);
        }
        return value;
    }
};

}  // namespace lookback::warp
