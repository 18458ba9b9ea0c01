// CUDA backend: scans of 8-bit integers.
#include "cuda/scan_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy scan(device&, const std::int8_t*, std::int8_t*, std::size_t, bool,
                            const scan_options<std::int8_t>&);
template scan_strategy scan(device&, const std::uint8_t*, std::uint8_t*, std::size_t, bool,
                            const scan_options<std::uint8_t>&);

}  // namespace lookback::cuda
