// The CUDA backend's answers in a build without CUDA.
#include "cuda/backend.hpp"

#include <lookback/error.hpp>

namespace lookback::cuda {

std::string unusable_reason() {
    return "this build has no CUDA backend";
}

std::unique_ptr<device> open_device() {
    throw error(error_kind::backend_error, "cuda: " + unusable_reason());
}

}  // namespace lookback::cuda
