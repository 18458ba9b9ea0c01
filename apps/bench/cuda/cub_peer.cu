// Compiled twice: LOOKBACK_CUB_PEER names the namespace, the include path chooses the version.
#include "bench/cuda/cub_peer.hpp"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

namespace lookback::bench::LOOKBACK_CUB_PEER {
namespace {

template <class T>
cudaError_t scan(void* memory, std::size_t& bytes, const T* in, T* out, std::size_t n,
                 cudaStream_t stream) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
        return cub::DeviceScan::InclusiveScan(memory, bytes, in, out, cuda::maximum<>{}, n, stream);
    } else if constexpr (std::is_same_v<T, affine>) {
        return cub::DeviceScan::InclusiveScan(memory, bytes, in, out, compose{}, n, stream);
    } else if constexpr (std::is_same_v<T, brackets>) {
        return cub::DeviceScan::InclusiveScan(memory, bytes, in, out, bicyclic{}, n, stream);
    } else {
        return cub::DeviceScan::InclusiveSum(memory, bytes, in, out, n, stream);
    }
}

template <class T>
cudaError_t scan_by_key(void* memory, std::size_t& bytes, const std::uint32_t* keys, const T* in,
                        T* out, std::size_t n, cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSumByKey(memory, bytes, keys, in, out, n,
                                              cuda::std::equal_to<>{}, stream);
}

template <class T>
cudaError_t reduce_by_key(void* memory, std::size_t& bytes, const std::uint32_t* keys, const T* in,
                          std::uint32_t* keys_out, T* out, std::int64_t* runs, std::size_t n,
                          cudaStream_t stream) {
    return cub::DeviceReduce::ReduceByKey(memory, bytes, keys, keys_out, in, out, runs,
                                          cuda::std::plus<>{}, n, stream);
}

}  // namespace

template <class T>
cub_by_key<T> by_key() {
    return {scan_by_key<T>, reduce_by_key<T>};
}
template cub_by_key<std::uint32_t> by_key();

template <class T>
cub_scan<T> peer() {
    return {scan<T>};
}

template cub_scan<std::uint8_t> peer();
template cub_scan<std::uint16_t> peer();
template cub_scan<std::uint32_t> peer();
template cub_scan<std::uint64_t> peer();
template cub_scan<std::int32_t> peer();
template cub_scan<float> peer();
template cub_scan<double> peer();
template cub_scan<affine> peer();
template cub_scan<brackets> peer();

int version() {
    return CUB_VERSION;
}

}  // namespace lookback::bench::LOOKBACK_CUB_PEER
