// Compiled once for each of LOOKBACK_CUB_KEY (a key type), because each sort of CUB compiles for
// long.
#include "bench/cuda/cub_sort_peer.hpp"

#include <cub/device/device_radix_sort.cuh>

namespace lookback::bench {

template <class Key, class Value>
cudaError_t cub_sort<Key, Value>::run(bool wide, void* memory, std::size_t& bytes, const Key* in,
                                      Key* out, const Value* values_in, Value* values_out,
                                      std::size_t n, cudaStream_t stream) {
    const auto by = [&](auto items) {
        constexpr int bits = 8 * sizeof(Key);
        if constexpr (sizeof(Value) == 1) {
            return cub::DeviceRadixSort::SortKeys(memory, bytes, in, out, items, 0, bits, stream);
        } else {
            return cub::DeviceRadixSort::SortPairs(memory, bytes, in, out, values_in, values_out,
                                                   items, 0, bits, stream);
        }
    };
    return wide ? by(n) : by(static_cast<std::uint32_t>(n));
}

template struct cub_sort<LOOKBACK_CUB_KEY, LOOKBACK_CUB_VALUE>;

}  // namespace lookback::bench
