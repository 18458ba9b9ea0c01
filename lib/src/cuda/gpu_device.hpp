// CUDA backend: one device, one stream, stream-ordered memory, and the workspace of the kernels.
// Invariant: everything is ordered by the stream; only synchronize() and copy() wait.
#pragma once

#include "cuda/backend.hpp"

#include <cuda_runtime_api.h>

namespace lookback::cuda {

/// Blocks from a memory pool of the context's own: freed blocks stay with it and are reused in
/// stream order, without a word to the driver.
class stream_memory final : public memory_resource {
public:
    stream_memory(int ordinal, cudaStream_t stream);
    stream_memory(const stream_memory&) = delete;
    stream_memory& operator=(const stream_memory&) = delete;
    ~stream_memory() override;

    void* allocate(std::size_t bytes) override;
    void deallocate(void* block, std::size_t bytes) noexcept override;
    /// Bytes that the pool keeps and nobody uses.
    std::size_t kept_bytes() const;

private:
    cudaMemPool_t pool_ = nullptr;
    cudaStream_t stream_;
};

class pinned_pieces;

class gpu_device final : public device {
public:
    explicit gpu_device(int ordinal);
    gpu_device(const gpu_device&) = delete;
    gpu_device& operator=(const gpu_device&) = delete;
    ~gpu_device() override;

    memory_resource& memory() override { return *memory_; }
    void synchronize() override;
    void copy(void* to, const void* from, std::size_t bytes) override;
    void* stream() override { return stream_; }
    std::size_t free_bytes() override;

    int ordinal() const { return ordinal_; }
    cudaStream_t native_stream() const { return stream_; }

    struct block {
        void* memory;
        std::size_t bytes;
    };
    /// At least `bytes` of memory that was zero when it was made and that one kernel after the
    /// other keeps its own order in. Grows by reallocation, in stream order.
    block workspace(std::size_t bytes) { return grown(workspace_, bytes); }
    /// The same for sorts, whose kernels keep another order.
    block sort_workspace(std::size_t bytes) { return grown(sort_workspace_, bytes); }

    /// Throws error{invalid_argument} unless `pointer` is memory of this device, or managed.
    void require_own(const void* pointer, const char* name) const;

private:
    block grown(block& workspace, std::size_t bytes);
    void copy_in_pieces(void* to, const void* from, std::size_t bytes);

    int ordinal_;
    cudaStream_t stream_ = nullptr;
    std::unique_ptr<stream_memory> memory_;
    block workspace_{};
    block sort_workspace_{};
    std::unique_ptr<pinned_pieces> pieces_;
};

}  // namespace lookback::cuda
