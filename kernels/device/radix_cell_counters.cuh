// Level L5 (device): 2^16 counters in the shared memory of one block, of 16 bits each.
// Invariant: nothing is lost. What is added is looked at now and then, and half of a full counter
// is moved to a log; the sum of all shows whether a counter ran over, and the block then counts
// anew, looking at every addition.
#pragma once

#include <lookback/kernels/arch/atomics.cuh>
#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/warp/scan.cuh>

namespace lookback::device {

/// Counters of a block: two cells a word, and a log of the moves of 2^15 out of one.
struct cell_counters {
    static constexpr std::uint32_t half = 1U << 15;
    static constexpr int most_moves = 4096;

    std::uint32_t moves;
    std::uint32_t balance;  ///< keys in the counters and the log, less keys counted
    std::uint32_t log[most_moves];

    /// The counters are the block's dynamic shared memory.
    __device__ __forceinline__ static std::uint32_t* pairs() {
        return static_cast<std::uint32_t*>(arch::dynamic_shared());
    }
    __device__ __forceinline__ void count(std::uint32_t cell) {
        arch::count_up(pairs() + cell / 2, 1U << (cell & 1) * 16);
    }
    /// Adds `more` (<= 512) and sees to it that the counter stays below 2^16.
    __device__ __forceinline__ void count_watched(std::uint32_t cell, std::uint32_t more) {
        const std::uint32_t shift = (cell & 1) * 16;
        const std::uint32_t old = arch::fetch_add(pairs() + cell / 2, more << shift);
        if ((old >> shift & 0xffffU) + more >= half) move_half(cell);
    }

private:
    __device__ __attribute__((noinline)) void move_half(std::uint32_t cell) {
        const std::uint32_t shift = (cell & 1) * 16;
        auto* word = static_cast<volatile std::uint32_t*>(pairs() + cell / 2);
        for (;;) {
            const std::uint32_t old = *word;
            if ((old >> shift & 0xffffU) < half) return;
            if (arch::compare_swap(pairs() + cell / 2, old, old - (half << shift))) break;
        }
        log[arch::fetch_add(&moves, 1)] = cell;
    }
};

/// Up to two cells in which many lanes of the warp have a key.
struct hot_cells {
    static constexpr std::uint32_t none = ~0U;
    std::uint32_t cells[2] = {none, none};

    /// All lanes.
    __device__ __forceinline__ explicit hot_cells(std::uint32_t cell) {
        constexpr int enough = 6;
#pragma unroll
        for (int probe = 0; probe < 3; ++probe) {
            const std::uint32_t like = arch::shuffle(cell, probe * 11);
            if (arch::bit_count(arch::ballot(cell == like)) < enough || like == cells[0]) continue;
            cells[cells[0] == none ? 0 : 1] = like;
        }
    }
    __device__ __forceinline__ bool any() const {
        return cells[0] != none;
    }
};

/// Whether the counters hold every key; all threads, ends in a barrier.
__device__ __forceinline__ bool all_are_counted(cell_counters& counters, int pairs,
                                                std::uint32_t counted) {
    std::uint32_t own = 0U - counted;
    for (int i = static_cast<int>(threadIdx.x); i < pairs; i += static_cast<int>(blockDim.x)) {
        own += (counters.pairs()[i] & 0xffffU) + (counters.pairs()[i] >> 16);
    }
    if (threadIdx.x == 0) own += counters.moves * cell_counters::half;
    own = warp::reduce_any_order(own, [](std::uint32_t a, std::uint32_t b) { return a + b; });
    if (arch::lane() == 0) arch::count_up(&counters.balance, own);
    arch::sync_block();  // all warps' parts are in
    return counters.balance == 0;
}

}  // namespace lookback::device
