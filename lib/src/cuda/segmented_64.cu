// CUDA backend: segmented scans and reductions of 64-bit integers.
#include "cuda/segmented_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy segmented_scan(device&, const segmented_arrays<std::int64_t>&, bool,
                                      const scan_options<std::int64_t>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<std::int64_t>&,
                                        std::int64_t, const scan_options<std::int64_t>&);
template scan_strategy segmented_scan(device&, const segmented_arrays<std::uint64_t>&, bool,
                                      const scan_options<std::uint64_t>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<std::uint64_t>&,
                                        std::uint64_t, const scan_options<std::uint64_t>&);

}  // namespace lookback::cuda
