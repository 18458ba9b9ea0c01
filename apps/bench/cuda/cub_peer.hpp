// The scans of CUB that the project is measured against, from two versions of CUB: the toolkit's
// own and the newest. Each is compiled from cub_peer.cu under a namespace of its own.
#pragma once

#include "support/scan_operators.cuh"

#include <cstddef>

#include <cuda_runtime_api.h>

namespace lookback::bench {

using test::affine;
using test::bicyclic;
using test::brackets;
using test::compose;

/// cub::DeviceScan of one item type: sums, but for int32 (maximum) and the types of
/// scan_operators.cuh (their operators).
template <class T>
struct cub_scan {
    /// With memory == nullptr it only sets `bytes`, else it scans.
    cudaError_t (*run)(void* memory, std::size_t& bytes, const T* in, T* out, std::size_t n,
                       cudaStream_t stream);
};

/// Sums of runs of equal keys: every item's (DeviceScan::InclusiveSumByKey), or one a run
/// (DeviceReduce::ReduceByKey, which also writes keys and the number of runs). memory as above.
template <class T>
struct cub_by_key {
    cudaError_t (*scan)(void* memory, std::size_t& bytes, const std::uint32_t* keys, const T* in,
                        T* out, std::size_t n, cudaStream_t stream);
    cudaError_t (*reduce)(void* memory, std::size_t& bytes, const std::uint32_t* keys, const T* in,
                          std::uint32_t* keys_out, T* out, std::int64_t* runs, std::size_t n,
                          cudaStream_t stream);
};

namespace cub_bundled {
template <class T>
cub_scan<T> peer();
template <class T>
cub_by_key<T> by_key();
int version();
}  // namespace cub_bundled

namespace cub_newest {
template <class T>
cub_scan<T> peer();
template <class T>
cub_by_key<T> by_key();
int version();
}  // namespace cub_newest

}  // namespace lookback::bench
