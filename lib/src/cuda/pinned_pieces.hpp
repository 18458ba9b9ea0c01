// CUDA backend: long arrays between functions of the host and device memory, in pieces of pinned
// memory. Invariant: the device copies some pieces while threads fill or take others.
#pragma once

#include "cuda/gpu_device.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace lookback::cuda {

class pinned_pieces {
public:
    /// Fills or takes `bytes` bytes of the array from `offset` on, which lie at `piece`.
    using on_piece = std::function<void(std::size_t offset, std::size_t bytes, std::byte* piece)>;

    /// Two pieces a thread. Throws error{out_of_memory}.
    pinned_pieces(gpu_device& gpu, int threads, std::size_t piece_bytes);
    pinned_pieces(const pinned_pieces&) = delete;
    pinned_pieces& operator=(const pinned_pieces&) = delete;
    ~pinned_pieces();

    /// Copies to the device what fill() makes, on all threads at once and in any order; after the
    /// work asked of the device before. Waits. What fill() throws ends it and is thrown on.
    void send(std::byte* to, std::size_t bytes, const on_piece& fill);

    /// Gives take() what lies on the device, on all threads at once, after the work asked before.
    /// Pieces are begun in ascending order, and one only when all before it have been begun: so
    /// take() may wait for lower pieces. Waits. What take() throws ends it and is thrown on.
    void fetch(const std::byte* from, std::size_t bytes, const on_piece& take);

private:
    struct slot {
        std::byte* memory = nullptr;
        cudaEvent_t copied = nullptr;
    };
    class handover;

    void release() noexcept;
    void copy_out(const std::byte* from, std::size_t bytes, handover& ready);

    gpu_device& gpu_;
    std::size_t piece_bytes_;
    std::vector<slot> slots_;
};

}  // namespace lookback::cuda
