// CUDA backend: scans of 32-bit integers.
#include "cuda/scan_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy scan(device&, const std::int32_t*, std::int32_t*, std::size_t, bool,
                            const scan_options<std::int32_t>&);
template scan_strategy scan(device&, const std::uint32_t*, std::uint32_t*, std::size_t, bool,
                            const scan_options<std::uint32_t>&);

}  // namespace lookback::cuda
