// CUDA backend: segmented scans and reductions of 8-bit integers.
#include "cuda/segmented_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy segmented_scan(device&, const segmented_arrays<std::int8_t>&, bool,
                                      const scan_options<std::int8_t>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<std::int8_t>&, std::int8_t,
                                        const scan_options<std::int8_t>&);
template scan_strategy segmented_scan(device&, const segmented_arrays<std::uint8_t>&, bool,
                                      const scan_options<std::uint8_t>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<std::uint8_t>&,
                                        std::uint8_t, const scan_options<std::uint8_t>&);

}  // namespace lookback::cuda
