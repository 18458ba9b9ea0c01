// Emulated device: the calls of the CUDA runtime that kernels' launchers, their tests and contexts
// make. Device memory is host memory, poisoned when it is new; pinned memory too.
#pragma once

#include "emulated/device.hpp"
#include "emulated_stream.hpp"

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
using cudaStream_t = emulated_stream*;
using cudaEvent_t = emulated_event*;
inline constexpr unsigned cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDisableTiming = 2;
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
    cudaDevAttrMemoryPoolsSupported,
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
cudaError_t launch_kernel(const launch_shape& shape, cudaStream_t stream,
                          const std::source_location& where, void (*kernel)(Parameters...),
                          std::type_identity_t<Parameters>... args) {
    const unsigned threads = shape.block.x * shape.block.y * shape.block.z;
    if (threads == 0 || threads > most_threads || shape.grid.x == 0 ||
        shape.shared_bytes > most_shared_bytes) {
        return noted(cudaErrorInvalidConfiguration);
    }
    const auto resident = static_cast<unsigned>(device().sms * device().blocks_per_sm);
    if (shape.cooperative && shape.grid.x > resident) {
        return noted(cudaErrorCooperativeLaunchTooLarge);
    }
    bool good = true;  // so far, where the stream is late
    const auto run = [=] {
        return launch(
            shape, [&] { kernel(args...); }, where);
    };
    if (stream == nullptr) {
        good = run();
    } else {
        stream->ask([=] { noted(run() ? cudaSuccess : cudaErrorLaunchFailure); });
    }
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
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (stream != nullptr) stream->run(stream->total());
    return cudaGetLastError();
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
    *stream = new emulated_stream;
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    cudaStreamSynchronize(stream);
    delete stream;
    return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
    *event = new emulated_event;
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    *event = {stream, stream != nullptr ? stream->total() : 0};
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    if (event->stream != nullptr) event->stream->run(event->place);
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
inline cudaError_t cudaSetDevice(int ordinal) {
    return ordinal == 0 ? cudaSuccess : emulated::noted(cudaErrorInvalidValue);
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int /*ordinal*/) {
    if (attribute == cudaDevAttrMemoryPoolsSupported) {
        *value = 1;
        return cudaSuccess;
    }
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
inline cudaError_t cudaFreeAsync(void* block, cudaStream_t stream) {
    emulated::ask(stream, [=] { cudaFree(block); });
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMallocHost(T** block, std::size_t bytes) {
    return cudaMalloc(block, bytes);
}
inline cudaError_t cudaFreeHost(void* block) {
    return cudaFree(block);
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                              cudaMemcpyKind /*kind*/) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    emulated::ask(stream, [=] { cudaMemcpy(to, from, bytes, kind); });
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
    if (bytes != 0) std::memset(to, value, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes,
                                   cudaStream_t stream = nullptr) {
    emulated::ask(stream, [=] { cudaMemset(to, value, bytes); });
    return cudaSuccess;
}

// What contexts ask besides: pools, which are the heap, and what a pointer is.
using cudaMemPool_t = struct emulated_pool*;
enum cudaMemAllocationType { cudaMemAllocationTypePinned };
enum cudaMemLocationType { cudaMemLocationTypeDevice };
enum cudaMemPoolAttr {
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrUsedMemCurrent,
};
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    struct {
        cudaMemLocationType type;
        int id;
    } location;
};
enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged,
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
};
struct cudaFuncAttributes {};

inline cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* /*properties*/) {
    *pool = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t /*pool*/) {
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t /*pool*/, cudaMemPoolAttr /*attribute*/,
                                           void* /*value*/) {
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t /*pool*/, cudaMemPoolAttr /*attribute*/,
                                           std::uint64_t* value) {
    *value = 0;
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** block, std::size_t bytes, cudaMemPool_t /*pool*/,
                                    cudaStream_t /*stream*/) {
    return cudaMalloc(block, bytes);
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    *free = *total = std::size_t{1} << 36;
    return cudaSuccess;
}
/// All memory can be used by this device.
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                            const void* /*pointer*/) {
    *attributes = {cudaMemoryTypeManaged, 0};
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* /*kernel*/) {
    *attributes = {};
    return cudaSuccess;
}
