#include "cuda/probe.hpp"

#include <cuda_runtime_api.h>

namespace lookback::cuda {
namespace {

__global__ void probe() {}

}  // namespace

bool kernels_run_here() {
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, probe) == cudaSuccess;
}

}  // namespace lookback::cuda
