// The selections of CUB that compaction is measured against. For all: with memory == nullptr they
// only set `bytes`; *count is device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace lookback::bench {

/// A row of 16 bytes.
struct alignas(16) row_of_16 {
    std::uint64_t low;
    std::uint64_t high;
};

namespace cub_select {

/// in[i] < value
cudaError_t less(void* memory, std::size_t& bytes, const std::uint32_t* in, std::uint32_t value,
                 std::uint32_t* out, std::int64_t* count, std::int64_t n, cudaStream_t stream);
cudaError_t unique(void* memory, std::size_t& bytes, const std::uint32_t* in, std::uint32_t* out,
                   std::int64_t* count, std::int64_t n, cudaStream_t stream);
/// Row is uint32, uint64 or row_of_16.
template <class Row>
cudaError_t flagged(void* memory, std::size_t& bytes, const Row* in, const std::uint8_t* flags,
                    Row* out, std::int64_t* count, std::int64_t n, cudaStream_t stream);
/// The numbers of the rows with flags.
cudaError_t numbers(void* memory, std::size_t& bytes, const std::uint8_t* flags, std::int64_t* out,
                    std::int64_t* count, std::int64_t n, cudaStream_t stream);

}  // namespace cub_select
}  // namespace lookback::bench
