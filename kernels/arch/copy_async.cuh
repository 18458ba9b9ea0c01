// Level L1 (arch): copies from global to shared memory that pass no register and that a thread need
// not wait for at once. Invariant: what a thread asked for is there for itself after
// wait_for_copies(), for other threads after a barrier that follows.
// Source: PTX ISA 9.0, 9.7.9.25 (cp.async).
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstring>

namespace lookback::arch {

/// Asks for 16 bytes; both ends are 16-byte aligned.
__device__ __forceinline__ void copy_16_async(void* shared, const void* global) {
#if defined(LOOKBACK_EMULATED_DEVICE)
    std::memcpy(shared, global, 16);
#else
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
#endif
}

/// Asks for 4 bytes; both ends are 4-byte aligned.
__device__ __forceinline__ void copy_4_async(void* shared, const void* global) {
#if defined(LOOKBACK_EMULATED_DEVICE)
    std::memcpy(shared, global, 4);
#else
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(global) : "memory");
#endif
}

/// Closes the group of all copies that the thread asked for since the last call; it may be empty.
__device__ __forceinline__ void close_copies() {
#if !defined(LOOKBACK_EMULATED_DEVICE)
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for all groups of the thread but the `Later` last ones.
template <int Later>
__device__ __forceinline__ void wait_for_copies() {
#if !defined(LOOKBACK_EMULATED_DEVICE)
    asm volatile("cp.async.wait_group %0;" ::"n"(Later) : "memory");
#endif
}

}  // namespace lookback::arch
