// The sorts of CUB that the project's are measured against, of the toolkit's own CUB.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace lookback::bench {

/// The value of a sort of keys alone.
struct no_payload {
    std::uint8_t nothing;
};

/// cub::DeviceRadixSort::SortKeys or, with values, SortPairs. Its time depends on the type of the
/// number of items: `wide` is std::size_t, else std::uint32_t.
template <class Key, class Value>
struct cub_sort {
    /// With memory == nullptr it only sets `bytes`, else it sorts. Values are null for keys alone.
    static cudaError_t run(bool wide, void* memory, std::size_t& bytes, const Key* in, Key* out,
                           const Value* values_in, Value* values_out, std::size_t n,
                           cudaStream_t stream);
};

}  // namespace lookback::bench
