// Level L1 (arch): memory asked for before it is needed.
// Invariant: hints; without them all results are the same.
#pragma once

#include <lookback/kernels/core/platform.hpp>

namespace lookback::arch {

/// Asks for `bytes` bytes (a multiple of 16) of global memory to come into L2, by one instruction
/// of one thread; nothing where the address is not 16-byte aligned.
__device__ __forceinline__ void prefetch_to_l2(const void* address, std::uint32_t bytes) {
#if defined(LOOKBACK_EMULATED_DEVICE)
    static_cast<void>(address);
    static_cast<void>(bytes);
#else
    if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0) return;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(address), "r"(bytes));
#endif
}

}  // namespace lookback::arch
