#include "cuda/cuda_check.hpp"

#include <lookback/error.hpp>

#include <string>

namespace lookback::cuda {

void cuda_check(cudaError_t status, const char* what, const std::source_location& where) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a reported error must not be found again by the next call
    const auto kind =
        status == cudaErrorMemoryAllocation ? error_kind::out_of_memory : error_kind::backend_error;
    throw error(kind, "cuda: cannot " + std::string(what) + ": " + cudaGetErrorString(status) +
                          " (" + cudaGetErrorName(status) + ", in " + where.function_name() + ")");
}

}  // namespace lookback::cuda
