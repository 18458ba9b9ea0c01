#include "cuda/gpu_device.hpp"

#include "cuda/cuda_check.hpp"
#include "cuda/pinned_pieces.hpp"
#include "cuda/probe.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>

namespace lookback::cuda {
namespace {

// Doubling keeps reallocations of a growing workspace few.
constexpr std::size_t least_workspace_bytes = std::size_t{1} << 20;

// The driver copies pageable memory on one thread, at a fifth of the bus. Shorter copies do not
// earn the pinned memory.
constexpr std::size_t pieces_from_bytes = std::size_t{64} << 20;
constexpr std::size_t piece_bytes = std::size_t{4} << 20;
constexpr unsigned piece_threads = 8;

bool is_pageable(const void* pointer) {
    cudaPointerAttributes attributes{};
    cuda_check(cudaPointerGetAttributes(&attributes, pointer), "look up a pointer");
    return attributes.type == cudaMemoryTypeUnregistered;
}

}  // namespace

stream_memory::stream_memory(int ordinal, cudaStream_t stream) : stream_(stream) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = ordinal;
    cuda_check(cudaMemPoolCreate(&pool_, &properties), "make a memory pool");
    std::uint64_t keep_all = UINT64_MAX;
    const cudaError_t status =
        cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep_all);
    if (status != cudaSuccess) {
        cudaMemPoolDestroy(pool_);
        cuda_check(status, "set up a memory pool");
    }
}

stream_memory::~stream_memory() {
    cudaMemPoolDestroy(pool_);
}

void* stream_memory::allocate(std::size_t bytes) {
    void* block = nullptr;
    const std::string what = "allocate " + std::to_string(bytes) + " bytes of device memory";
    cuda_check(cudaMallocFromPoolAsync(&block, std::max<std::size_t>(bytes, 1), pool_, stream_),
               what.c_str());
    return block;
}

void stream_memory::deallocate(void* block, std::size_t /*bytes*/) noexcept {
    cudaFreeAsync(block, stream_);
}

std::size_t stream_memory::kept_bytes() const {
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    cuda_check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved),
               "look at the memory pool");
    cuda_check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used),
               "look at the memory pool");
    return reserved - used;
}

gpu_device::gpu_device(int ordinal) : ordinal_(ordinal) {
    cuda_check(cudaSetDevice(ordinal_), "select the device");
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream");
    try {
        memory_ = std::make_unique<stream_memory>(ordinal_, stream_);
    } catch (...) {
        cudaStreamDestroy(stream_);
        throw;
    }
}

gpu_device::~gpu_device() {
    for (const block& held : {workspace_, sort_workspace_}) {
        if (held.memory != nullptr) memory_->deallocate(held.memory, held.bytes);
    }
    cudaStreamSynchronize(stream_);
    pieces_.reset();
    memory_.reset();
    cudaStreamDestroy(stream_);
}

void gpu_device::synchronize() {
    cuda_check(cudaStreamSynchronize(stream_), "finish the stream's work");
}

void gpu_device::copy(void* to, const void* from, std::size_t bytes) {
    if (bytes >= pieces_from_bytes && is_pageable(to) != is_pageable(from)) {
        copy_in_pieces(to, from, bytes);
        return;
    }
    const std::string what = "copy " + std::to_string(bytes) + " bytes";
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), what.c_str());
    synchronize();
}

void gpu_device::copy_in_pieces(void* to, const void* from, std::size_t bytes) {
    if (!pieces_) {
        const unsigned cores = std::max(std::thread::hardware_concurrency(), 1U);
        pieces_ = std::make_unique<pinned_pieces>(
            *this, static_cast<int>(std::min(cores, piece_threads)), piece_bytes);
    }
    if (is_pageable(from)) {
        pieces_->send(static_cast<std::byte*>(to), bytes,
                      [&](std::size_t offset, std::size_t size, std::byte* piece) {
                          std::memcpy(piece, static_cast<const std::byte*>(from) + offset, size);
                      });
    } else {
        pieces_->fetch(static_cast<const std::byte*>(from), bytes,
                       [&](std::size_t offset, std::size_t size, std::byte* piece) {
                           std::memcpy(static_cast<std::byte*>(to) + offset, piece, size);
                       });
    }
}

std::size_t gpu_device::free_bytes() {
    cuda_check(cudaSetDevice(ordinal_), "select the device");
    std::size_t free = 0;
    std::size_t total = 0;
    cuda_check(cudaMemGetInfo(&free, &total), "ask for the device's free memory");
    return free + memory_->kept_bytes();
}

gpu_device::block gpu_device::grown(block& workspace, std::size_t bytes) {
    if (bytes <= workspace.bytes) return workspace;
    const std::size_t size = std::max({bytes, 2 * workspace.bytes, least_workspace_bytes});
    if (workspace.memory != nullptr) memory_->deallocate(workspace.memory, workspace.bytes);
    workspace = {};
    void* memory = memory_->allocate(size);
    workspace = {memory, size};
    cuda_check(cudaMemsetAsync(memory, 0, size, stream_), "clear the workspace");
    return workspace;
}

void gpu_device::require_own(const void* pointer, const char* name) const {
    cudaPointerAttributes attributes{};
    cuda_check(cudaPointerGetAttributes(&attributes, pointer), "look up a pointer");
    const bool device_memory = attributes.type == cudaMemoryTypeDevice;
    if (attributes.type == cudaMemoryTypeManaged ||
        (device_memory && attributes.device == ordinal_)) {
        return;
    }
    const std::string kind = device_memory ? "memory of device " + std::to_string(attributes.device)
                                           : std::string("host memory");
    throw error(error_kind::invalid_argument,
                std::string(name) + " is " + kind + ", but this context runs on device " +
                    std::to_string(ordinal_) +
                    "; take buffers from the context and fill them by "
                    "context.copy()");
}

std::string unusable_reason() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
        cudaGetLastError();
        return std::string("no usable GPU: ") + cudaGetErrorString(status);
    }
    if (count == 0) return "no GPU";
    int ordinal = 0;
    if (cudaGetDevice(&ordinal) != cudaSuccess || !kernels_run_here()) {
        cudaGetLastError();
        return "no usable GPU: this build has no kernels for the GPU that is here";
    }
    int pools = 0;
    cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, ordinal);
    if (pools == 0) return "no usable GPU: its driver has no stream-ordered memory";
    return {};
}

std::unique_ptr<device> open_device() {
    const std::string obstacle = unusable_reason();
    if (!obstacle.empty()) throw error(error_kind::backend_error, "cuda: " + obstacle);
    int ordinal = 0;
    cuda_check(cudaGetDevice(&ordinal), "find the current device");
    return std::make_unique<gpu_device>(ordinal);
}

}  // namespace lookback::cuda
