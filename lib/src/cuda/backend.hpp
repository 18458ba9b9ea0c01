// What the API layer may ask of the CUDA backend. Plain C++: no CUDA header.
// Implemented in cuda/, or by cuda_absent.cpp where CUDA is not built.
#pragma once

#include <lookback/context.hpp>

#include <memory>
#include <string>

namespace lookback::cuda {

/// Empty where a GPU can be used; otherwise why not, in one line.
std::string unusable_reason();

/// The device, stream and memory of a context.
class device {
public:
    virtual ~device() = default;
    virtual memory_resource& memory() = 0;
};

/// Throws error{backend_error} where unusable_reason() is not empty.
std::unique_ptr<device> open_device();

}  // namespace lookback::cuda
