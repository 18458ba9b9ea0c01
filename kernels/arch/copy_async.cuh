// Level L1 (arch): copies from global to shared memory that pass no register and that a thread need
// not wait for at once. Invariant: what a thread asked for is there for itself after
// wait_for_copies(), for other threads after a barrier that follows.
// Source: PTX ISA 9.0, 9.7.9.25 (cp.async).
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstring>

namespace lookback::arch {

/// Asks for `Bytes` bytes; both ends are aligned to as many.
template <int Bytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
#if defined(LOOKBACK_EMULATED_DEVICE)
    std::memcpy(shared, global, Bytes);
#else
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    if constexpr (Bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes)
                     : "memory");
    }
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

/// Waits for all copies that the thread asked for, in groups or not.
__device__ __forceinline__ void wait_for_all_copies() {
#if !defined(LOOKBACK_EMULATED_DEVICE)
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace lookback::arch
