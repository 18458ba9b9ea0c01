// CPU backend: a happens-before edge that ThreadSanitizer can see.
// Invariant: what a thread did before release() is ordered before what follows an acquire() after
// it. oneTBB orders a task's start and end by itself, but its library is not instrumented; so the
// edge costs nothing except in builds for ThreadSanitizer.
#pragma once

#include <atomic>

namespace lookback::cpu {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool edges_are_needed = true;
#elif defined(__has_feature)
inline constexpr bool edges_are_needed = __has_feature(thread_sanitizer);
#else
inline constexpr bool edges_are_needed = false;
#endif

class thread_edge {
public:
    void release() {
        if constexpr (edges_are_needed) crossings_.fetch_add(1, std::memory_order_release);
    }
    void acquire() {
        if constexpr (edges_are_needed) crossings_.load(std::memory_order_acquire);
    }

private:
    std::atomic<int> crossings_{0};
};

}  // namespace lookback::cpu
