// Level L1 (arch): atomics on words of shared or global memory, and masks of lanes.
// Invariant: relaxed; order between lanes comes from sync_warp() or a barrier of the block.
#pragma once

#include <lookback/kernels/arch/lane.cuh>

namespace lookback::arch {

/// Adds and returns what was there before. Lanes of one instruction that meet in a word get their
/// results in no documented order.
__device__ __forceinline__ std::uint32_t fetch_add(std::uint32_t* word, std::uint32_t value) {
    return atomicAdd(word, value);
}

/// Adds without asking for the old value: in shared memory half the cost where lanes meet.
__device__ __forceinline__ void count_up(std::uint32_t* word, std::uint32_t value = 1) {
    atomicAdd(word, value);
}

__device__ __forceinline__ void set_bits(std::uint32_t* word, std::uint32_t bits) {
    atomicOr(word, bits);
}

/// Makes the word at least `value`.
__device__ __forceinline__ void raise_to(std::uint32_t* word, std::uint32_t value) {
    atomicMax(word, value);
}

/// True if the word was `expected` and is now `desired`.
__device__ __forceinline__ bool compare_swap(std::uint32_t* word, std::uint32_t expected,
                                             std::uint32_t desired) {
    return atomicCAS(word, expected, desired) == expected;
}

/// Makes a word of global memory at most `value`.
__device__ __forceinline__ void lower_to(std::uint64_t* word, std::uint64_t value) {
    atomicMin(reinterpret_cast<unsigned long long*>(word), value);
}

__device__ __forceinline__ int bit_count(std::uint32_t mask) {
    return __popc(mask);
}

/// The lanes with lower numbers.
__device__ __forceinline__ std::uint32_t lanes_below() {
    return (1U << lane()) - 1;
}

/// The same pointer, of which the compiler then knows that it points to global memory: one that was
/// read from memory could point anywhere, and accesses through it are slower and keep their order
/// with those to shared memory.
template <class T>
__device__ __forceinline__ T* global(T* pointer) {
#if !defined(LOOKBACK_EMULATED_DEVICE)
    __builtin_assume(__isGlobal(pointer));
#endif
    return pointer;
}

/// What the lanes of the warp wrote before is seen by all of them after.
__device__ __forceinline__ void sync_warp() {
    __syncwarp();
}

/// The same for the threads of a block.
__device__ __forceinline__ void sync_block() {
    __syncthreads();
}

/// Whether any thread of the block votes for it; a barrier, too.
__device__ __forceinline__ bool any_in_block(bool vote) {
    return __syncthreads_or(static_cast<int>(vote)) != 0;
}

}  // namespace lookback::arch
