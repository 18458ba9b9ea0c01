// CUDA backend: scans of 16-bit integers.
#include "cuda/scan_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy scan(device&, const std::int16_t*, std::int16_t*, std::size_t, bool,
                            const scan_options<std::int16_t>&);
template scan_strategy scan(device&, const std::uint16_t*, std::uint16_t*, std::size_t, bool,
                            const scan_options<std::uint16_t>&);

}  // namespace lookback::cuda
