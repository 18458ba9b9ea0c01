// Emulated device: functions of CUDA C++ that need no other thread: bits, cached loads, atomics.
// Source: CUDA C++ Programming Guide 13.0, 10; CUDA Math API, integer intrinsics.
#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <type_traits>

// Bits.
inline int __popc(unsigned x) {
    return std::popcount(x);
}
inline int __popcll(unsigned long long x) {
    return std::popcount(x);
}
inline int __clz(int x) {
    return std::countl_zero(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
    return std::countl_zero(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
    return x == 0 ? 0 : 1 + std::countr_zero(static_cast<unsigned>(x));
}
inline int __ffsll(long long x) {
    return x == 0 ? 0 : 1 + std::countr_zero(static_cast<unsigned long long>(x));
}
inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1) << (31 - bit);
    return reversed;
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
    unsigned result = 0;
    for (int byte = 0; byte < 4; ++byte) {
        const auto chosen = static_cast<unsigned>(bytes >> (8 * (selector >> 4 * byte & 7)) & 0xff);
        result |= chosen << 8 * byte;
    }
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
inline long long clock64() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}
template <class T>
T __ldg(const T* from) {
    return *from;
}
template <class T>
T __ldcs(const T* from) {
    return *from;
}
template <class T>
void __stcs(T* to, T value) {
    *to = value;
}
template <class T>
requires std::is_arithmetic_v<T>
constexpr T min(T a, T b) {
    return b < a ? b : a;
}
template <class T>
requires std::is_arithmetic_v<T>
constexpr T max(T a, T b) {
    return a < b ? b : a;
}

// Atomics, relaxed, on shared and global memory alike; each returns the old value.
#define LOOKBACK_EMULATED_ATOMIC(name, expression)                          \
    template <class T>                                                      \
    T name(T* address, std::type_identity_t<T> b) {                         \
        const std::atomic_ref<T> shared(*address);                          \
        T a = shared.load(std::memory_order_relaxed);                       \
        while (!shared.compare_exchange_weak(a, static_cast<T>(expression), \
                                             std::memory_order_relaxed)) {  \
        }                                                                   \
        return a;                                                           \
    }
LOOKBACK_EMULATED_ATOMIC(atomicAdd, a + b)
LOOKBACK_EMULATED_ATOMIC(atomicSub, a - b)
LOOKBACK_EMULATED_ATOMIC(atomicMin, b < a ? b : a)
LOOKBACK_EMULATED_ATOMIC(atomicMax, a < b ? b : a)
LOOKBACK_EMULATED_ATOMIC(atomicAnd, a& b)
LOOKBACK_EMULATED_ATOMIC(atomicOr, a | b)
LOOKBACK_EMULATED_ATOMIC(atomicXor, a ^ b)
LOOKBACK_EMULATED_ATOMIC(atomicExch, b)
#undef LOOKBACK_EMULATED_ATOMIC
template <class T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
    std::atomic_ref<T>(*address).compare_exchange_strong(expected, desired,
                                                         std::memory_order_relaxed);
    return expected;
}
