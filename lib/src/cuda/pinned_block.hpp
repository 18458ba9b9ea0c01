// CUDA backend: one block of pinned host memory, and a place in a stream to wait for.
// Invariant: each is given back once; what was asked of a stream for a block is the owner's affair.
#pragma once

#include "cuda/cuda_check.hpp"

#include <cstddef>
#include <utility>

namespace lookback::cuda {

class pinned_block {
public:
    /// Throws error{out_of_memory}. Nothing is allocated for 0 bytes.
    explicit pinned_block(std::size_t bytes) {
        if (bytes == 0) return;
        void* memory = nullptr;
        cuda_check(cudaMallocHost(&memory, bytes), "allocate pinned host memory");
        memory_ = static_cast<std::byte*>(memory);
    }
    pinned_block(const pinned_block&) = delete;
    pinned_block& operator=(const pinned_block&) = delete;
    ~pinned_block() {
        if (memory_ != nullptr) cudaFreeHost(memory_);
    }
    std::byte* data() const { return memory_; }

private:
    std::byte* memory_ = nullptr;
};

class stream_event {
public:
    stream_event() {
        cuda_check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event");
    }
    stream_event(const stream_event&) = delete;
    stream_event& operator=(const stream_event&) = delete;
    ~stream_event() { cudaEventDestroy(event_); }

    void record(cudaStream_t stream) const {
        cuda_check(cudaEventRecord(event_, stream), "record an event");
    }
    /// Until what was asked of the stream before record() is done.
    void wait() const { cuda_check(cudaEventSynchronize(event_), "wait for an event"); }

private:
    cudaEvent_t event_ = nullptr;
};

}  // namespace lookback::cuda
