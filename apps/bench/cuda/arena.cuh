// Benchmark support: device arrays that all jobs share, seeded items, comparison with a peer.
#pragma once

#include "bench/cuda/timing.cuh"
#include "support/scan_operators.cuh"

#include <lookback/kernels/device/scan.cuh>

namespace lookback::bench {

using core::index_t;
using test::affine;
using test::bicyclic;
using test::brackets;
using test::compose;

/// Seeded items; floats are small whole numbers, so that sums of some length are exact.
template <class T>
__global__ void fill(T* items, index_t n) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x ^= x >> 27;
        if constexpr (std::is_same_v<T, affine>) {
            items[i] = {x | 1, x >> 7};
        } else if constexpr (std::is_same_v<T, brackets>) {
            items[i] = {static_cast<std::uint32_t>(x & 7), static_cast<std::uint32_t>(x >> 3 & 7)};
        } else if constexpr (std::is_floating_point_v<T>) {
            items[i] = static_cast<T>(x >> 62) - T(1.5);
        } else {
            items[i] = static_cast<T>(x >> 5);
        }
    }
}

template <class T>
__global__ void count_unlike(const T* a, const T* b, index_t n, unsigned long long* unlike) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        bool like;
        if constexpr (std::is_floating_point_v<T>) {
            // Half steps up to 2^22 are exact in f32; beyond that the order of addition shows.
            like = fabs(a[i] - b[i]) <= T(2) + T(1e-3) * fabs(b[i]);
        } else {
            like = a[i] == b[i];
        }
        if (!like) atomicAdd(unlike, 1);
    }
}

class arena {
public:
    explicit arena(std::size_t bytes) {
        for (void** block : {&in, &out, &other}) check(cudaMalloc(block, bytes), "allocate");
        workspace.bytes = std::size_t{64} << 20;
        check(cudaMalloc(&workspace.memory, workspace.bytes), "allocate");
        check(cudaMalloc(&peer_memory, peer_bytes), "allocate");
        check(cudaMalloc(&unlike, sizeof(*unlike)), "allocate");
        check(cudaMemset(unlike, 0, sizeof(*unlike)), "clear");
        check(cudaStreamCreate(&stream), "stream");
        check(device::prepare(workspace, stream), "prepare");
    }

    double copy_ms(std::size_t bytes, int repeats) const {
        return median_ms(stream, repeats, [&](cudaStream_t s) {
            check(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, s), "copy");
        });
    }
    bool alike() const {
        unsigned long long count = 0;
        check(cudaMemcpyAsync(&count, unlike, sizeof(count), cudaMemcpyDefault, stream), "compare");
        check(cudaMemsetAsync(unlike, 0, sizeof(count), stream), "clear");
        check(cudaStreamSynchronize(stream), "compare");
        return count == 0;
    }

    void* in = nullptr;
    void* out = nullptr;
    void* other = nullptr;
    void* peer_memory = nullptr;
    static constexpr std::size_t peer_bytes = std::size_t{256} << 20;
    device::scan_workspace workspace;
    unsigned long long* unlike = nullptr;
    cudaStream_t stream = nullptr;
};

inline int repeats_for(std::size_t bytes) {
    return bytes >= (std::size_t{1} << 26) ? 15 : 51;
}

}  // namespace lookback::bench
