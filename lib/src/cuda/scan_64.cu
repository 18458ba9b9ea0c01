// CUDA backend: scans of 64-bit integers.
#include "cuda/scan_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy scan(device&, const std::int64_t*, std::int64_t*, std::size_t, bool,
                            const scan_options<std::int64_t>&);
template scan_strategy scan(device&, const std::uint64_t*, std::uint64_t*, std::size_t, bool,
                            const scan_options<std::uint64_t>&);

}  // namespace lookback::cuda
