// Level L1 (arch): copies from global to shared memory that go on while the thread does.
// Invariant: what was copied is there for the thread itself after wait_for_copies(), and for the
// block after a barrier behind it. Source: PTX ISA 9.0, 9.7.9.25 (cp.async).
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstring>

namespace lookback::arch {

/// Starts to copy `Bytes` bytes; both addresses are multiples of that.
template <int Bytes>
__device__ __forceinline__ void copy_to_shared(void* to, const void* from) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
#if defined(LOOKBACK_EMULATED_DEVICE)
    memcpy(to, from, Bytes);
#else
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
    if constexpr (Bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from),
                     "n"(Bytes)
                     : "memory");
    }
#endif
}

/// Until all copies that this thread started are done.
__device__ __forceinline__ void wait_for_copies() {
#if !defined(LOOKBACK_EMULATED_DEVICE)
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace lookback::arch
