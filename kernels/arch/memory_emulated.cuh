// Level L1 (arch): memory.cuh for a device that is emulated on the host, in C++ alone.
// Invariant: the same functions with the same meaning; a load that somebody may poll with gives
// other threads their turn.
#pragma once

#if defined(LOOKBACK_EMULATED_DEVICE)

#include <atomic>
#include <cstdint>

namespace lookback::arch {

inline std::uint64_t load_relaxed(const std::uint64_t* address) {
    __nanosleep(0);
    return std::atomic_ref(*const_cast<std::uint64_t*>(address)).load(std::memory_order_relaxed);
}

inline std::uint64_t exchange(std::uint64_t* address, std::uint64_t value) {
    return std::atomic_ref(*address).exchange(value, std::memory_order_relaxed);
}

inline std::uint64_t add(std::uint64_t* address, std::uint64_t value) {
    return std::atomic_ref(*address).fetch_add(value, std::memory_order_relaxed);
}

inline bool compare_swap(std::uint64_t* address, std::uint64_t expected, std::uint64_t desired) {
    return std::atomic_ref(*address).compare_exchange_strong(expected, desired,
                                                             std::memory_order_relaxed);
}

/// In two steps, with others between them now and then: readers must tell torn pairs by their tags.
inline std::uint64_t exchange_pair(std::uint64_t* address, std::uint64_t first,
                                   std::uint64_t second) {
    const std::uint64_t old_first = exchange(address, first);
    __nanosleep(0);
    exchange(address + 1, second);
    return old_first;
}

template <class T>
T* in_global(T* address) {
    return address;
}

inline void load_pair_relaxed(const std::uint64_t* address, std::uint64_t* words) {
    words[0] = load_relaxed(address);
    words[1] = load_relaxed(address + 1);
}

inline void sleep(std::uint32_t nanoseconds) {
    __nanosleep(nanoseconds);
}

inline void fence() {
    std::atomic_thread_fence(std::memory_order_acq_rel);
}

}  // namespace lookback::arch

#endif
