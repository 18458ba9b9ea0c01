// In an object of its own: CUB compiles for long.
#include "bench/cuda/cub_select_peer.hpp"

#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace lookback::bench::cub_select {
namespace {

struct less_than {
    std::uint32_t value;
    __device__ bool operator()(std::uint32_t item) const { return item < value; }
};

}  // namespace

cudaError_t less(void* memory, std::size_t& bytes, const std::uint32_t* in, std::uint32_t value,
                 std::uint32_t* out, std::int64_t* count, std::int64_t n, cudaStream_t stream) {
    return cub::DeviceSelect::If(memory, bytes, in, out, count, n, less_than{value}, stream);
}

cudaError_t unique(void* memory, std::size_t& bytes, const std::uint32_t* in, std::uint32_t* out,
                   std::int64_t* count, std::int64_t n, cudaStream_t stream) {
    return cub::DeviceSelect::Unique(memory, bytes, in, out, count, n, stream);
}

template <class Row>
cudaError_t flagged(void* memory, std::size_t& bytes, const Row* in, const std::uint8_t* flags,
                    Row* out, std::int64_t* count, std::int64_t n, cudaStream_t stream) {
    return cub::DeviceSelect::Flagged(memory, bytes, in, flags, out, count, n, stream);
}
template cudaError_t flagged(void*, std::size_t&, const std::uint32_t*, const std::uint8_t*,
                             std::uint32_t*, std::int64_t*, std::int64_t, cudaStream_t);
template cudaError_t flagged(void*, std::size_t&, const std::uint64_t*, const std::uint8_t*,
                             std::uint64_t*, std::int64_t*, std::int64_t, cudaStream_t);
template cudaError_t flagged(void*, std::size_t&, const row_of_16*, const std::uint8_t*, row_of_16*,
                             std::int64_t*, std::int64_t, cudaStream_t);

cudaError_t numbers(void* memory, std::size_t& bytes, const std::uint8_t* flags, std::int64_t* out,
                    std::int64_t* count, std::int64_t n, cudaStream_t stream) {
    return cub::DeviceSelect::Flagged(memory, bytes, thrust::counting_iterator<std::int64_t>(0),
                                      flags, out, count, n, stream);
}

}  // namespace lookback::bench::cub_select
