// Level L4 (tile): the counter by which the blocks of a launch learn its epoch and take tickets.
// Invariant: every block of a launch arrives once; the last arrival opens the next epoch, so that
// tile words need no reset between launches, replays of a CUDA graph included.
#pragma once

#include <lookback/kernels/arch/memory.cuh>
#include <lookback/kernels/core/lookback.hpp>

namespace lookback::tile {

/// What a block learns when it arrives.
struct arrival {
    std::uint32_t epoch;  ///< in [1, 2^30): the tag of this launch's tile words
    std::uint32_t order;  ///< 0 for the first block to arrive, and so on
};

/// Upper half: epoch - 1. Lower half: blocks that arrived in this epoch. Zero to begin with.
using counter = std::uint64_t;
inline constexpr std::uint32_t epochs = (1U << 30) - 1;

/// The words that all launches on one workspace share.
struct epoch_words {
    counter* arrivals;
    std::uint64_t* words;    ///< the slots of tiles, 16-byte aligned
    std::uint32_t capacity;  ///< of `words`
};

/// Called by one thread of each of `blocks` blocks (< 2^32); the launch uses the first `used`
/// words.
__device__ __forceinline__ arrival arrive(const epoch_words& shared, std::uint32_t blocks,
                                          core::index_t used) {
    const std::uint64_t old = arch::add(shared.arrivals, 1);
    const auto past = static_cast<std::uint32_t>(old >> 32);
    const auto order = static_cast<std::uint32_t>(old);
    if (order == blocks - 1) {
        const std::uint64_t next = past + 1 == epochs ? 0 : std::uint64_t{past + 1} << 32;
        arch::exchange(shared.arrivals, next);
        // One unused word is wiped in every launch, each in its turn, so that none is as old as
        // the 2^30 launches after which its epoch comes round again.
        const std::uint32_t unused = past % shared.capacity;
        if (unused >= used) arch::exchange(shared.words + unused, 0);
    }
    return {past + 1, order};
}

}  // namespace lookback::tile
