// CUDA backend: segmented scans and reductions of 32-bit integers.
#include "cuda/segmented_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy segmented_scan(device&, const segmented_arrays<std::int32_t>&, bool,
                                      const scan_options<std::int32_t>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<std::int32_t>&,
                                        std::int32_t, const scan_options<std::int32_t>&);
template scan_strategy segmented_scan(device&, const segmented_arrays<std::uint32_t>&, bool,
                                      const scan_options<std::uint32_t>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<std::uint32_t>&,
                                        std::uint32_t, const scan_options<std::uint32_t>&);

}  // namespace lookback::cuda
