// The CUDA backend's answers in a build without CUDA.
#include "cuda/backend.hpp"

#include <lookback/error.hpp>

namespace lookback::cuda {
namespace {

[[noreturn]] void refuse() {
    throw error(error_kind::backend_error, "cuda: " + unusable_reason());
}

}  // namespace

std::string unusable_reason() {
    return "this build has no CUDA backend";
}

std::unique_ptr<device> open_device() {
    refuse();
}

// Never reached: no device can be opened. The API layer links against these all the same.
template <arithmetic_item T>
scan_strategy scan(device& /*device*/, const T* /*in*/, T* /*out*/, std::size_t /*items*/,
                   bool /*exclusive*/, const scan_options<T>& /*options*/) {
    refuse();
}

template scan_strategy scan(device&, const std::int8_t*, std::int8_t*, std::size_t, bool,
                            const scan_options<std::int8_t>&);
template scan_strategy scan(device&, const std::int16_t*, std::int16_t*, std::size_t, bool,
                            const scan_options<std::int16_t>&);
template scan_strategy scan(device&, const std::int32_t*, std::int32_t*, std::size_t, bool,
                            const scan_options<std::int32_t>&);
template scan_strategy scan(device&, const std::int64_t*, std::int64_t*, std::size_t, bool,
                            const scan_options<std::int64_t>&);
template scan_strategy scan(device&, const std::uint8_t*, std::uint8_t*, std::size_t, bool,
                            const scan_options<std::uint8_t>&);
template scan_strategy scan(device&, const std::uint16_t*, std::uint16_t*, std::size_t, bool,
                            const scan_options<std::uint16_t>&);
template scan_strategy scan(device&, const std::uint32_t*, std::uint32_t*, std::size_t, bool,
                            const scan_options<std::uint32_t>&);
template scan_strategy scan(device&, const std::uint64_t*, std::uint64_t*, std::size_t, bool,
                            const scan_options<std::uint64_t>&);
template scan_strategy scan(device&, const float*, float*, std::size_t, bool,
                            const scan_options<float>&);
template scan_strategy scan(device&, const double*, double*, std::size_t, bool,
                            const scan_options<double>&);

}  // namespace lookback::cuda
