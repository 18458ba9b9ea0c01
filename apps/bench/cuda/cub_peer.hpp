// The scans of CUB that the project is measured against, from two versions of CUB: the toolkit's
// own and the newest. Each is compiled from cub_peer.cu under a namespace of its own.
#pragma once

#include "bench/cuda/scan_operators.cuh"

#include <cstddef>

#include <cuda_runtime_api.h>

namespace lookback::bench {

/// cub::DeviceScan of one item type: sums, but for int32 (maximum) and the types of
/// scan_operators.cuh (their operators).
template <class T>
struct cub_scan {
    /// With memory == nullptr it only sets `bytes`, else it scans.
    cudaError_t (*run)(void* memory, std::size_t& bytes, const T* in, T* out, std::size_t n,
                       cudaStream_t stream);
};

namespace cub_bundled {
template <class T>
cub_scan<T> peer();
int version();
}  // namespace cub_bundled

namespace cub_newest {
template <class T>
cub_scan<T> peer();
int version();
}  // namespace cub_newest

}  // namespace lookback::bench
