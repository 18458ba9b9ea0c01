// Emulated device: the calls of the CUDA runtime that kernels' launchers and their tests make. What
// is asked of a stream happens at once. Device memory is host memory, poisoned when it is new.
#pragma once

#include "emulated/device.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
};
using cudaStream_t = struct emulated_stream*;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize,
    cudaFuncAttributePreferredSharedMemoryCarveout,
};

namespace emulated {

inline constexpr std::size_t most_shared_bytes = 227 * 1024;
inline constexpr unsigned most_threads = 1024;

inline cudaError_t& last_error() {
    static thread_local cudaError_t error = cudaSuccess;
    return error;
}
inline cudaError_t noted(cudaError_t error) {
    if (error != cudaSuccess) last_error() = error;
    return error;
}

/// Runs kernel(args...) by every thread of the grid.
template <class... Parameters>
cudaError_t launch_kernel(const launch_shape& shape, const std::source_location& where,
                          void (*kernel)(Parameters...), std::type_identity_t<Parameters>... args) {
    const unsigned threads = shape.block.x * shape.block.y * shape.block.z;
    if (threads == 0 || threads > most_threads || shape.grid.x == 0 ||
        shape.shared_bytes > most_shared_bytes) {
        return noted(cudaErrorInvalidConfiguration);
    }
    const auto resident = static_cast<unsigned>(device().sms * device().blocks_per_sm);
    if (shape.cooperative && shape.grid.x > resident) {
        return noted(cudaErrorCooperativeLaunchTooLarge);
    }
    const bool good = launch(
        shape, [&] { kernel(args...); }, where);
    return noted(good ? cudaSuccess : cudaErrorLaunchFailure);
}

}  // namespace emulated

inline cudaError_t cudaGetLastError() {
    return std::exchange(emulated::last_error(), cudaSuccess);
}
inline const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : "error of the emulated device";
}
inline const char* cudaGetErrorName(cudaError_t error) {
    return cudaGetErrorString(error);
}
inline cudaError_t cudaDeviceSynchronize() {
    return cudaGetLastError();
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t /*stream*/) {
    return cudaGetLastError();
}
inline cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* ordinal) {
    *ordinal = 0;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*ordinal*/) {
    *value = attribute == cudaDevAttrMultiProcessorCount
                 ? emulated::device().sms
                 : static_cast<int>(emulated::most_shared_bytes);
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* /*kernel*/,
                                                          int /*threads*/,
                                                          std::size_t /*shared_bytes*/) {
    *blocks = emulated::device().blocks_per_sm;
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* /*kernel*/, cudaFuncAttribute /*attribute*/,
                                 int /*value*/) {
    return cudaSuccess;
}

template <class T>
cudaError_t cudaMalloc(T** block, std::size_t bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 256, bytes) != 0) return emulated::noted(cudaErrorMemoryAllocation);
    std::memset(memory, 0xcb, bytes);
    *block = static_cast<T*>(memory);
    return cudaSuccess;
}
inline cudaError_t cudaFree(void* block) {
    std::free(block);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMallocAsync(T** block, std::size_t bytes, cudaStream_t /*stream*/) {
    return cudaMalloc(block, bytes);
}
inline cudaError_t cudaFreeAsync(void* block, cudaStream_t /*stream*/) {
    return cudaFree(block);
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                              cudaMemcpyKind /*kind*/) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t /*stream*/ = nullptr) {
    return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    if (bytes != 0) std::memset(to, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes,
                                   cudaStream_t /*stream*/ = nullptr) {
    return cudaMemset(to, value, bytes);
}
