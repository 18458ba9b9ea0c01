// Level L3 (block): inclusive scans over the threads of a block, one value a thread: five forms of
// one primitive, interchangeable. Invariant: op is applied in thread order and needs no identity;
// `shared` holds Threads values and may be used again after the call (each form ends in a barrier).
// Source: Kogge and Stone (1973); Hillis and Steele (1986); Brent and Kung (1982), Blelloch (1990);
// Sklansky (1960); raking: Dotsenko et al., "Fast scan algorithms on graphics processors" (2008).
#pragma once

#include <lookback/kernels/warp/scan.cuh>

namespace lookback::block {

/// Shuffles inside the warps, then a shuffle scan of the warps' totals: two barriers.
template <int Threads>
struct kogge_stone {
    template <class T, class Op>
    __device__ static T inclusive_scan(T value, T* shared, Op op) {
        constexpr int warps = Threads / arch::warp_lanes;
        static_assert(warps <= arch::warp_lanes);
        const int warp = static_cast<int>(threadIdx.x) / arch::warp_lanes;
        value = warp::inclusive_scan(value, op);
        if (arch::lane() == arch::warp_lanes - 1) shared[warp] = value;
        __syncthreads();  // totals are written
        T before = shared[arch::lane() < warps ? arch::lane() : warps - 1];
        before = warp::inclusive_scan(before, op);
        before = arch::shuffle(before, warp > 0 ? warp - 1 : 0);
        __syncthreads();  // totals are read
        return warp > 0 ? op(before, value) : value;
    }
};

/// Every thread adds its left neighbour at distance 1, 2, 4, ...: n log n work, 2 log n barriers.
template <int Threads>
struct hillis_steele {
    template <class T, class Op>
    __device__ static T inclusive_scan(T value, T* shared, Op op) {
        const int thread = static_cast<int>(threadIdx.x);
        for (int step = 1; step < Threads; step *= 2) {
            shared[thread] = value;
            __syncthreads();  // this step's values are written
            if (thread >= step) value = op(shared[thread - step], value);
            __syncthreads();  // ... and read
        }
        return value;
    }
};

/// Up-sweep and down-sweep over a binary tree in shared memory: 2n work, 2 log n barriers.
template <int Threads>
struct blelloch {
    static_assert((Threads & (Threads - 1)) == 0);
    template <class T, class Op>
    __device__ static T inclusive_scan(T value, T* shared, Op op) {
        const int thread = static_cast<int>(threadIdx.x);
        shared[thread] = value;
        for (int step = 1; step < Threads; step *= 2) {
            __syncthreads();  // the level below is written
            const int right = (thread + 1) * step * 2 - 1;
            if (right < Threads) shared[right] = op(shared[right - step], shared[right]);
        }
        for (int step = Threads / 4; step > 0; step /= 2) {
            __syncthreads();  // the level above is written
            const int right = (thread + 1) * step * 2 - 1 + step;
            if (right < Threads) shared[right] = op(shared[right - step], shared[right]);
        }
        __syncthreads();  // all levels are written
        const T result = shared[thread];
        __syncthreads();  // ... and read
        return result;
    }
};

/// The right half of every block of 2, 4, 8, ... adds the left half's last value: n/2 log n work.
template <int Threads>
struct sklansky {
    template <class T, class Op>
    __device__ static T inclusive_scan(T value, T* shared, Op op) {
        const int thread = static_cast<int>(threadIdx.x);
        for (int half = 1; half < Threads; half *= 2) {
            shared[thread] = value;
            __syncthreads();  // this level's values are written
            if ((thread & half) != 0) value = op(shared[(thread & ~(half - 1)) - 1], value);
            __syncthreads();  // ... and read
        }
        return value;
    }
};

/// One warp takes Threads / 32 neighbouring values a lane: least work, but one warp does it.
template <int Threads>
struct raking {
    template <class T, class Op>
    __device__ static T inclusive_scan(T value, T* shared, Op op) {
        constexpr int values = Threads / arch::warp_lanes;
        const int thread = static_cast<int>(threadIdx.x);
        shared[thread] = value;
        __syncthreads();  // values are written
        if (thread < arch::warp_lanes) {
            T* own = shared + thread * values;
            for (int i = 1; i < values; ++i) own[i] = op(own[i - 1], own[i]);
            const T up_to = warp::inclusive_scan(own[values - 1], op);
            const T before = arch::shuffle_up(up_to, 1);
            if (thread > 0) {
                for (int i = 0; i < values; ++i) own[i] = op(before, own[i]);
            }
        }
        __syncthreads();  // results are written
        const T result = shared[thread];
        __syncthreads();  // ... and read
        return result;
    }
};

}  // namespace lookback::block
