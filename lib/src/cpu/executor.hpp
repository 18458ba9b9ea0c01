// CPU backend: the threads of a context, over a oneTBB arena.
// Invariant: workers may start late, one after the other, or all on one thread; code that waits for
// another worker must take its work by an atomic ticket.
#pragma once

#include <cstddef>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace lookback::cpu {

class executor {
public:
    explicit executor(int threads) : arena_(threads), threads_(threads) {}

    int threads() const noexcept { return threads_; }

    /// body(worker) for each worker in [0, threads()), at most threads() at a time.
    template <class Body>
    void for_each_worker(const Body& body) {
        for_each(static_cast<std::size_t>(threads_),
                 [&](std::size_t worker) { body(static_cast<int>(worker)); });
    }

    /// body(i) for each i in [0, count), in any order, each as a task of its own.
    template <class Body>
    void for_each(std::size_t count, const Body& body) {
        if (count == 0) return;
        if (count == 1 || threads_ == 1) {
            for (std::size_t i = 0; i < count; ++i) body(i);
            return;
        }
        arena_.execute([&] {
            tbb::parallel_for(
                tbb::blocked_range<std::size_t>(0, count, 1),
                [&](const tbb::blocked_range<std::size_t>& range) {
                    for (std::size_t i = range.begin(); i != range.end(); ++i) body(i);
                },
                tbb::simple_partitioner());
        });
    }

private:
    tbb::task_arena arena_;
    int threads_;
};

/// Cores that this process may run on (its affinity mask), at least 1.
int available_threads();

}  // namespace lookback::cpu
