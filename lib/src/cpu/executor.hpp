// CPU backend: the threads of a context, over a oneTBB arena.
// Invariant: workers may start late, one after the other, or all on one thread; code that waits for
// another worker must take its work by an atomic ticket.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

// oneTBB from the distribution is not instrumented: ThreadSanitizer would take the order that it
// gives its tasks for races. Plain threads show it the same bodies side by side.
#if defined(__SANITIZE_THREAD__)
#define LOOKBACK_PLAIN_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LOOKBACK_PLAIN_THREADS 1
#endif
#endif

namespace lookback::cpu {

class executor {
public:
    /// More threads than cores are really started, for tests of unlucky schedules.
    explicit executor(int threads);

    int threads() const noexcept { return threads_; }

    /// body(worker) for each worker in [0, threads()), at most threads() at a time.
    template <class Body>
    void for_each_worker(const Body& body) {
        for_each(static_cast<std::size_t>(threads_),
                 [&](std::size_t worker) { body(static_cast<int>(worker)); });
    }

    /// body(i) for each i in [0, count), in any order, each as a task of its own. What the caller
    /// wrote before is seen by every body, and what bodies wrote by the caller afterwards. The
    /// first exception of a body is thrown on, once no body runs any more.
    template <class Body>
    void for_each(std::size_t count, const Body& body) {
        if (count == 0) return;
        if (count == 1 || threads_ == 1) {
            for (std::size_t i = 0; i < count; ++i) body(i);
            return;
        }
#if defined(LOOKBACK_PLAIN_THREADS)
        for_each_on_plain_threads(count, body);
#else
        arena_.execute([&] {
            tbb::parallel_for(
                tbb::blocked_range<std::size_t>(0, count, 1),
                [&](const tbb::blocked_range<std::size_t>& range) {
                    for (std::size_t i = range.begin(); i != range.end(); ++i) body(i);
                },
                tbb::simple_partitioner());
        });
#endif
    }

private:
#if defined(LOOKBACK_PLAIN_THREADS)
    template <class Body>
    void for_each_on_plain_threads(std::size_t count, const Body& body) {
        std::atomic<std::size_t> next{0};
        std::mutex mutex;
        std::exception_ptr failure;
        const auto work = [&] {
            try {
                for (std::size_t i = next++; i < count; i = next++) body(i);
            } catch (...) {
                next = count;
                const std::scoped_lock lock(mutex);
                if (!failure) failure = std::current_exception();
            }
        };
        {
            std::vector<std::jthread> others;
            const auto most = std::min(count, static_cast<std::size_t>(threads_));
            for (std::size_t t = 1; t < most; ++t) others.emplace_back(work);
            work();
        }
        if (failure) std::rethrow_exception(failure);
    }
#endif

    std::optional<tbb::global_control> more_than_cores_;  // before the arena
    tbb::task_arena arena_;
    int threads_;
};

/// Cores that this process may run on (its affinity mask), at least 1.
int available_threads();

}  // namespace lookback::cpu
