// Level L1 (arch): what a lane can ask of its warp. All lanes of the warp take part in every call.
// Invariant: values of any trivially copyable type move as whole 32-bit words, bit for bit.
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstring>

namespace lookback::arch {

inline constexpr int warp_lanes = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffffU;

__device__ __forceinline__ int lane() {
#if defined(LOOKBACK_EMULATED_DEVICE)
    return static_cast<int>(threadIdx.x % 32);
#else
    std::uint32_t id;
    asm("mov.u32 %0, %%laneid;" : "=r"(id));
    return static_cast<int>(id);
#endif
}

__device__ __forceinline__ std::uint32_t ballot(bool vote) {
    return __ballot_sync(all_lanes, vote);
}

/// The sum over the warp, in every lane: one instruction.
__device__ __forceinline__ std::uint32_t sum(std::uint32_t value) {
    return __reduce_add_sync(all_lanes, value);
}

/// `exchange(word)` of every 32-bit word of the value.
template <class T, class Exchange>
__device__ __forceinline__ T for_each_word(const T& value, Exchange exchange) {
    constexpr int words = (sizeof(T) + 3) / 4;
    std::uint32_t slice[words] = {};
    memcpy(slice, &value, sizeof(T));
#pragma unroll
    for (int word = 0; word < words; ++word) slice[word] = exchange(slice[word]);
    T result;
    memcpy(&result, slice, sizeof(T));
    return result;
}

/// The value of lane `source`.
template <class T>
__device__ __forceinline__ T shuffle(const T& value, int source) {
    return for_each_word(value,
                         [=](std::uint32_t word) { return __shfl_sync(all_lanes, word, source); });
}

/// The 16 bytes at an aligned address that is the same in all lanes and that no kernel writes: so
/// that the compiler knows them to be the same, and branches on them to be uniform.
__device__ __forceinline__ uint4 load_uniform(const void* from) {
    return shuffle(__ldg(static_cast<const uint4*>(from)), 0);
}

/// The value of the lane `delta` below; lanes without one get their own.
template <class T>
__device__ __forceinline__ T shuffle_up(const T& value, int delta) {
    return for_each_word(
        value, [=](std::uint32_t word) { return __shfl_up_sync(all_lanes, word, delta); });
}

/// The value of the lane whose number differs in the bits of `mask`.
template <class T>
__device__ __forceinline__ T shuffle_xor(const T& value, int mask) {
    return for_each_word(
        value, [=](std::uint32_t word) { return __shfl_xor_sync(all_lanes, word, mask); });
}

/// The number of the warp in its block; all lanes must call it. The compiler sees that all lanes
/// have the same: a branch on it is uniform, and shuffles after it need no second version for lanes
/// that went apart. That halved the code of the scan and took 30 registers off its peak.
__device__ __forceinline__ int warp() {
    return static_cast<int>(shuffle(threadIdx.x / warp_lanes, 0));
}

/// The number of the block, read anew: costs less than a register held across a long wait.
__device__ __forceinline__ std::uint32_t block_number() {
#if defined(LOOKBACK_EMULATED_DEVICE)
    return blockIdx.x;
#else
    std::uint32_t number;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
    return number;
#endif
}

/// The lesser of two words, as one instruction that no compiler turns into a comparison.
__device__ __forceinline__ std::uint32_t minimum(std::uint32_t a, std::uint32_t b) {
#if defined(LOOKBACK_EMULATED_DEVICE)
    return a < b ? a : b;
#else
    std::uint32_t least;
    asm("min.u32 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
    return least;
#endif
}

/// The word that begins `shift` bits (< 32) above the lowest bit of high:low.
__device__ __forceinline__ std::uint32_t funnel_right(std::uint32_t low, std::uint32_t high,
                                                      std::uint32_t shift) {
    return __funnelshift_r(low, high, shift);
}

/// The upper half of the product.
__device__ __forceinline__ std::uint32_t high_product(std::uint32_t a, std::uint32_t b) {
    return __umulhi(a, b);
}

/// Makes the compiler forget what it derived from `word`, so that it does not hold that in
/// registers.
__device__ __forceinline__ void forget_derived(std::uint32_t& word) {
    asm volatile("" : "+r"(word));
}
__device__ __forceinline__ void forget_derived(std::uint64_t& word) {
    asm volatile("" : "+l"(word));
}

}  // namespace lookback::arch
