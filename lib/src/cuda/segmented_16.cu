// CUDA backend: segmented scans and reductions of 16-bit integers.
#include "cuda/segmented_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy segmented_scan(device&, const segmented_arrays<std::int16_t>&, bool,
                                      const scan_options<std::int16_t>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<std::int16_t>&,
                                        std::int16_t, const scan_options<std::int16_t>&);
template scan_strategy segmented_scan(device&, const segmented_arrays<std::uint16_t>&, bool,
                                      const scan_options<std::uint16_t>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<std::uint16_t>&,
                                        std::uint16_t, const scan_options<std::uint16_t>&);

}  // namespace lookback::cuda
