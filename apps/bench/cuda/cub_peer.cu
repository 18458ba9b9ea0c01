// Compiled twice: LOOKBACK_CUB_PEER names the namespace, the include path chooses the version.
#include "bench/cuda/cub_peer.hpp"

#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#include <cuda/functional>

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

}  // namespace

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
