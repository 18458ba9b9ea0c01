// Test support: device memory, a GPU or a visible skip, and comparisons that run on the device.
#pragma once

#include "support/sizes.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace lookback::test {

/// Whether the kernels run on the emulated device, thousands of times slower than on a GPU.
#if defined(LOOKBACK_EMULATED_DEVICE)
inline constexpr bool emulated_device = true;
#else
inline constexpr bool emulated_device = false;
#endif

/// What a GPU gets, or the emulated device, or that under a sanitizer.
template <class T>
constexpr T by_device(T gpu, T emulated, T emulated_and_sanitized) {
    return !emulated_device ? gpu : sanitized ? emulated_and_sanitized : emulated;
}

inline void require(cudaError_t status, const char* what) {
    if (status != cudaSuccess) {
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
    }
}

/// Skips without a GPU, and says so; fails instead where LOOKBACK_REQUIRE_CUDA is 1.
class CudaTest : public testing::Test {
protected:
    void SetUp() override {
        int count = 0;
        if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) return;
        cudaGetLastError();
        const char* required = std::getenv("LOOKBACK_REQUIRE_CUDA");
        if (required != nullptr && std::string(required) == "1") {
            FAIL() << "no GPU, but LOOKBACK_REQUIRE_CUDA=1";
        }
        GTEST_SKIP() << "no GPU here";
    }
};

template <class T>
class device_array {
public:
    explicit device_array(std::size_t size) : size_(size) {
        require(cudaMalloc(&data_, size * sizeof(T) + 1), "cudaMalloc");
    }
    explicit device_array(const std::vector<T>& host) : device_array(host.size()) {
        require(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyDefault), "upload");
    }
    device_array(const device_array&) = delete;
    device_array& operator=(const device_array&) = delete;
    ~device_array() { cudaFree(data_); }

    T* data() const { return data_; }
    std::size_t size() const { return size_; }
    void fill_bytes(int value) {
        require(cudaMemset(data_, value, size_ * sizeof(T)), "cudaMemset");
    }
    std::vector<T> host() const {
        std::vector<T> copy(size_);
        require(cudaMemcpy(copy.data(), data_, size_ * sizeof(T), cudaMemcpyDefault), "download");
        return copy;
    }

private:
    T* data_ = nullptr;
    std::size_t size_;
};

}  // namespace lookback::test
