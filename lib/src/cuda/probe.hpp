// CUDA backend: whether the kernels of this build can run on the current device.
#pragma once

namespace lookback::cuda {

bool kernels_run_here();

}  // namespace lookback::cuda
