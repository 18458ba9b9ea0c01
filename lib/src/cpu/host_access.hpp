// CPU backend: how the look-back protocol of kernels/core reads and writes words, and how it waits.
// Invariant: relaxed order suffices, as on the GPU: all that a reader uses is inside the words.
#pragma once

#include <lookback/error.hpp>
#include <lookback/kernels/core/lookback.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace lookback::cpu {

struct host_access {
    static std::uint64_t store(std::uint64_t* word, std::uint64_t value) {
        return std::atomic_ref(*word).exchange(value, std::memory_order_relaxed);
    }
    static std::uint64_t load(std::uint64_t* word) {
        return std::atomic_ref(*word).load(std::memory_order_relaxed);
    }
    static bool install(std::uint64_t* word, std::uint64_t expected, std::uint64_t desired) {
        return std::atomic_ref(*word).compare_exchange_strong(expected, desired,
                                                              std::memory_order_relaxed);
    }
    /// A tile takes some ten microseconds. Who waits longer waits for a thread without a core: let
    /// it have this one.
    static void pause(std::uint32_t polls) {
        if (polls < 64) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        } else if (polls < 4096) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
};

/// For tiles whose other memory is ordered by their words as well: what a tile read before it
/// published is not overwritten by who looked back at it (compaction in place).
struct ordered_host_access : host_access {
    static std::uint64_t store(std::uint64_t* word, std::uint64_t value) {
        return std::atomic_ref(*word).exchange(value, std::memory_order_acq_rel);
    }
    static std::uint64_t load(std::uint64_t* word) {
        return std::atomic_ref(*word).load(std::memory_order_acquire);
    }
};

struct tile_is_missing {
    void operator()(core::index_t tile, std::uint32_t polls) const {
        throw error(error_kind::backend_error,
                    "look-back: tile " + std::to_string(tile) + " has not published after " +
                        std::to_string(polls) + " polls; please report this as a bug");
    }
};

/// Debug builds give up after about half a minute (pause() sleeps 100 us a poll).
#if defined(NDEBUG)
using host_waiter = core::patient_waiter;
#else
struct host_waiter : core::bounded_waiter<tile_is_missing> {
    host_waiter() : core::bounded_waiter<tile_is_missing>{300000, {}} {}
};
#endif

/// Slots of 64 bytes, so that no two tiles share a cache line.
inline constexpr core::index_t line_words = 8;

}  // namespace lookback::cpu
