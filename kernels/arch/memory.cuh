// Level L1 (arch): loads, stores and atomics on global memory with the modifiers that CUDA C++ has
// no plain words for. Invariant: atomics here are relaxed, at device scope.
// Source: PTX ISA 9.0, 9.7.9 (ld, st) and 9.7.13 (atom). 128-bit atomics need sm_90.
#pragma once

#include <lookback/kernels/arch/memory_emulated.cuh>
#include <lookback/kernels/core/platform.hpp>

#if !defined(LOOKBACK_EMULATED_DEVICE)
namespace lookback::arch {

__device__ __forceinline__ std::uint64_t load_relaxed(const std::uint64_t* address) {
    std::uint64_t value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return value;
}

__device__ __forceinline__ std::uint64_t exchange(std::uint64_t* address, std::uint64_t value) {
    std::uint64_t old;
    asm volatile("atom.relaxed.gpu.global.exch.b64 %0, [%1], %2;"
                 : "=l"(old)
                 : "l"(address), "l"(value)
                 : "memory");
    return old;
}

__device__ __forceinline__ std::uint64_t add(std::uint64_t* address, std::uint64_t value) {
    std::uint64_t old;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(old)
                 : "l"(address), "l"(value)
                 : "memory");
    return old;
}

/// True if the word was `expected` and is now `desired`.
__device__ __forceinline__ bool compare_swap(std::uint64_t* address, std::uint64_t expected,
                                             std::uint64_t desired) {
    std::uint64_t old;
    asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(old)
                 : "l"(address), "l"(expected), "l"(desired)
                 : "memory");
    return old == expected;
}

/// Two neighbouring words at a 16-byte aligned address, exchanged at once; the first old word.
__device__ __forceinline__ std::uint64_t exchange_pair(std::uint64_t* address, std::uint64_t first,
                                                       std::uint64_t second) {
    std::uint64_t old_first;
    asm volatile(
        "{\n\t.reg .b128 value, old;\n\t.reg .b64 old_second;\n\t"
        "mov.b128 value, {%2, %3};\n\t"
        "atom.relaxed.gpu.global.exch.b128 old, [%1], value;\n\t"
        "mov.b128 {%0, old_second}, old;\n\t}"
        : "=l"(old_first)
        : "l"(address), "l"(first), "l"(second)
        : "memory");
    return old_first;
}

/// Two neighbouring words at a 16-byte aligned address. Each is whole; both need not be of the
/// same moment.
__device__ __forceinline__ void load_pair_relaxed(const std::uint64_t* address,
                                                  std::uint64_t* words) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(words[0]), "=l"(words[1])
                 : "l"(address)
                 : "memory");
}

__device__ __forceinline__ void sleep(std::uint32_t nanoseconds) {
    asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}

/// The same address, which the compiler then knows to be one of global memory: pointers that are
/// read from memory could be to anything.
template <class T>
__device__ __forceinline__ T* in_global(T* address) {
    __builtin_assume(__isGlobal(address));
    return address;
}

/// Orders what this thread did before against what it does after, for the whole device.
__device__ __forceinline__ void fence() {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

}  // namespace lookback::arch
#endif
