// Emulated device: what CUDA C++ gives to device code, as far as kernels use it. Included before
// everything else (-include) where kernels are compiled by the host's compiler.
// Invariant: the names and meanings are CUDA's; warp operations check that all lanes of their mask
// come. Source: CUDA C++ Programming Guide 13.0, 10.
#pragma once

#include "emulated/device.hpp"
#include "emulated/intrinsics.hpp"

#include <atomic>
#include <cstring>
#include <type_traits>

#define LOOKBACK_EMULATED_DEVICE 1
#define __device__
#define __host__
#define __global__
#define __constant__ static
#define __shared__ static thread_local
#define __forceinline__ inline
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)
#define threadIdx (::emulated::thread_index())
#define blockIdx (::emulated::block_index())
#define blockDim (::emulated::block_size())
#define gridDim (::emulated::grid_size())

using emulated::dim3;
inline constexpr int warpSize = 32;

struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
constexpr uint2 make_uint2(unsigned x, unsigned y) {
    return {x, y};
}
constexpr uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
    return {x, y, z, w};
}
constexpr ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) {
    return {x, y};
}

namespace emulated {

using here = std::source_location;

template <class T>
std::uint64_t to_word(T value) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(T));
    return word;
}
template <class T>
T from_word(std::uint64_t word) {
    T value;
    std::memcpy(&value, &word, sizeof(T));
    return value;
}

/// Each lane of the mask gets result_of(lane, lanes, mask).
template <class Result>
void for_lanes(offer (&lanes)[32], std::uint32_t mask, Result result_of) {
    for (int lane = 0; lane < 32; ++lane) {
        if ((mask >> lane & 1) != 0) lanes[lane].result = result_of(lane);
    }
}

/// Value of the lane that source_of(lane, operand) names; a lane without one gets its own.
template <auto SourceOf>
void shuffle(offer (&lanes)[32], std::uint32_t mask) {
    for_lanes(lanes, mask, [&](int lane) {
        const int width = static_cast<int>(lanes[lane].operand >> 16);
        const int operand = static_cast<std::int16_t>(lanes[lane].operand & 0xffff);
        const int base = lane / width * width;
        const int source = base + SourceOf(lane - base, operand);
        const bool inside = source >= base && source < base + width;
        return lanes[inside ? source : lane].value;
    });
}

template <class T>
T shuffled(const char* name, unsigned mask, T value, int operand, int width, combine_lanes combine,
           const here& where) {
    const auto packed =
        static_cast<std::uint32_t>(width) << 16 | (static_cast<std::uint32_t>(operand) & 0xffff);
    return from_word<T>(warp_operation(name, mask, to_word(value), packed, combine, where));
}

template <class T, auto Op>
T reduced(const char* name, unsigned mask, T value, const here& where) {
    return from_word<T>(warp_operation(
        name, mask, to_word(value), 0,
        [](offer(&lanes)[32], std::uint32_t members) {
            T total{};
            bool any = false;
            for (int lane = 0; lane < 32; ++lane) {
                if ((members >> lane & 1) == 0) continue;
                const T next = from_word<T>(lanes[lane].value);
                total = any ? Op(total, next) : next;
                any = true;
            }
            for_lanes(lanes, members, [&](int) { return to_word(total); });
        },
        where));
}

inline unsigned ballot(const char* name, unsigned mask, bool vote, const here& where) {
    return static_cast<unsigned>(warp_operation(
        name, mask, vote, 0,
        [](offer(&lanes)[32], std::uint32_t members) {
            std::uint32_t votes = 0;
            for (int lane = 0; lane < 32; ++lane) {
                if ((members >> lane & 1) != 0 && lanes[lane].value != 0) votes |= 1U << lane;
            }
            for_lanes(lanes, members, [&](int) { return std::uint64_t{votes}; });
        },
        where));
}

}  // namespace emulated

// Barriers.
inline void __syncthreads(const emulated::here& where = emulated::here::current()) {
    emulated::block_barrier(where);
}
inline void __syncwarp(unsigned mask = ~0U,
                       const emulated::here& where = emulated::here::current()) {
    emulated::warp_operation(
        "__syncwarp", mask, 0, 0, [](emulated::offer(&)[32], std::uint32_t) {}, where);
}
inline void __threadfence() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void __threadfence_block() {}
inline void __nanosleep(unsigned /*nanoseconds*/) {
    emulated::yield();
}
[[noreturn]] inline void __trap(const emulated::here& where = emulated::here::current()) {
    emulated::fault("__trap", where);
}

// Votes and matches.
inline unsigned __activemask() {
    return 1U << emulated::thread_index().x % 32;  // always a right answer: lanes may be apart
}
inline unsigned __ballot_sync(unsigned mask, int vote,
                              const emulated::here& where = emulated::here::current()) {
    return emulated::ballot("__ballot_sync", mask, vote != 0, where);
}
inline int __any_sync(unsigned mask, int vote,
                      const emulated::here& where = emulated::here::current()) {
    return emulated::ballot("__any_sync", mask, vote != 0, where) != 0;
}
inline int __all_sync(unsigned mask, int vote,
                      const emulated::here& where = emulated::here::current()) {
    return emulated::ballot("__all_sync", mask, vote != 0, where) == mask;
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value,
                          const emulated::here& where = emulated::here::current()) {
    return static_cast<unsigned>(emulated::warp_operation(
        "__match_any_sync", mask, emulated::to_word(value), 0,
        [](emulated::offer(&lanes)[32], std::uint32_t members) {
            emulated::for_lanes(lanes, members, [&](int lane) {
                std::uint64_t like = 0;
                for (int other = 0; other < 32; ++other) {
                    const bool same = lanes[other].value == lanes[lane].value;
                    if ((members >> other & 1) != 0 && same) like |= std::uint64_t{1} << other;
                }
                return like;
            });
        },
        where));
}

// Shuffles.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              const emulated::here& where = emulated::here::current()) {
    return emulated::shuffled("__shfl_sync", mask, value, source % width, width,
                              emulated::shuffle<[](int, int from) { return from; }>, where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 const emulated::here& where = emulated::here::current()) {
    return emulated::shuffled("__shfl_up_sync", mask, value, static_cast<int>(delta), width,
                              emulated::shuffle<[](int lane, int by) { return lane - by; }>, where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   const emulated::here& where = emulated::here::current()) {
    return emulated::shuffled("__shfl_down_sync", mask, value, static_cast<int>(delta), width,
                              emulated::shuffle<[](int lane, int by) { return lane + by; }>, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32,
                  const emulated::here& where = emulated::here::current()) {
    return emulated::shuffled("__shfl_xor_sync", mask, value, bits, width,
                              emulated::shuffle<[](int lane, int by) { return lane ^ by; }>, where);
}

// Reductions of a warp.
#define LOOKBACK_EMULATED_REDUCE(name, expression)                                            \
    template <class T>                                                                        \
    T name(unsigned mask, T value, const emulated::here& where = emulated::here::current()) { \
        return emulated::reduced<T, [](T a, T b) { return static_cast<T>(expression); }>(     \
            #name, mask, value, where);                                                       \
    }
LOOKBACK_EMULATED_REDUCE(__reduce_add_sync, a + b)
LOOKBACK_EMULATED_REDUCE(__reduce_min_sync, b < a ? b : a)
LOOKBACK_EMULATED_REDUCE(__reduce_max_sync, a < b ? b : a)
LOOKBACK_EMULATED_REDUCE(__reduce_and_sync, a& b)
LOOKBACK_EMULATED_REDUCE(__reduce_or_sync, a | b)
LOOKBACK_EMULATED_REDUCE(__reduce_xor_sync, a ^ b)
#undef LOOKBACK_EMULATED_REDUCE

// Votes of a block.
inline int __syncthreads_count(int vote, const emulated::here& where = emulated::here::current()) {
    return emulated::block_count(vote != 0, where);
}
inline int __syncthreads_or(int vote, const emulated::here& where = emulated::here::current()) {
    return emulated::block_count(vote != 0, where) != 0;
}
inline int __syncthreads_and(int vote, const emulated::here& where = emulated::here::current()) {
    return emulated::block_count(vote == 0, where) == 0;
}
