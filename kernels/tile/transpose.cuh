// Level L4 (tile): the rows of a warp turned so that each lane holds neighbouring vectors, and
// back, through shared memory. Invariant: vector i of the warp lies in row i / 32 of lane i % 32
// when striped, in row i % Rows of lane i / Rows when blocked. Source: Merrill, "CUB", block
// exchange; the padding keeps 8 rows free of bank conflicts.
#pragma once

#include <lookback/kernels/arch/lane.cuh>

namespace lookback::tile {

template <class Vector, int Rows>
struct transpose {
    /// 16-byte cells of shared memory for one warp.
    static constexpr int cells = Rows * arch::warp_lanes / 8 * 9;

    __device__ static int cell(int vector) { return vector + vector / 8; }

    __device__ __forceinline__ static void to_blocked(Vector (&rows)[Rows], uint4* shared) {
        const int lane = arch::lane();
        exchange(
            rows, shared, [=](int row) { return row * arch::warp_lanes + lane; },
            [=](int row) { return lane * Rows + row; });
    }
    __device__ __forceinline__ static void to_striped(Vector (&rows)[Rows], uint4* shared) {
        const int lane = arch::lane();
        exchange(
            rows, shared, [=](int row) { return lane * Rows + row; },
            [=](int row) { return row * arch::warp_lanes + lane; });
    }

private:
    template <class From, class To>
    __device__ __forceinline__ static void exchange(Vector (&rows)[Rows], uint4* shared, From from,
                                                    To to) {
        static_assert(sizeof(Vector) == 16);
        __syncwarp();  // what the last exchange left is read
#pragma unroll
        for (int row = 0; row < Rows; ++row) {
            uint4 bits;
            memcpy(&bits, &rows[row], sizeof(bits));
            shared[cell(from(row))] = bits;
        }
        __syncwarp();  // all vectors are written
#pragma unroll
        for (int row = 0; row < Rows; ++row) {
            const uint4 bits = shared[cell(to(row))];
            memcpy(&rows[row], &bits, sizeof(bits));
        }
    }
};

}  // namespace lookback::tile
