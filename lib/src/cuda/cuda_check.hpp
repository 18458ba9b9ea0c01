// CUDA backend: every runtime call goes through cuda_check.
// Invariant: a failed call is an error that says what was tried, why it failed and where.
#pragma once

#include <source_location>

#include <cuda_runtime_api.h>

namespace lookback::cuda {

/// Throws error{out_of_memory} or error{backend_error} unless `status` is cudaSuccess. `what` is
/// what was tried, e.g. "allocate 4096 bytes".
void cuda_check(cudaError_t status, const char* what,
                const std::source_location& where = std::source_location::current());

}  // namespace lookback::cuda
