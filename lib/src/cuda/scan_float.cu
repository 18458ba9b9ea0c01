// CUDA backend: scans of floating-point numbers.
#include "cuda/scan_dispatch.cuh"

namespace lookback::cuda {

template scan_strategy scan(device&, const float*, float*, std::size_t, bool,
                            const scan_options<float>&);
template scan_strategy scan(device&, const double*, double*, std::size_t, bool,
                            const scan_options<double>&);

}  // namespace lookback::cuda
