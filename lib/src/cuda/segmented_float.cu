// CUDA backend: segmented scans and reductions of floating-point items.
#include "cuda/segmented_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy segmented_scan(device&, const segmented_arrays<float>&, bool,
                                      const scan_options<float>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<float>&, float,
                                        const scan_options<float>&);
template scan_strategy segmented_scan(device&, const segmented_arrays<double>&, bool,
                                      const scan_options<double>&);
template scan_strategy segmented_reduce(device&, const segmented_arrays<double>&, double,
                                        const scan_options<double>&);

}  // namespace lookback::cuda
