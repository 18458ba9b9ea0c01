// The executor: every index once, edges to and from the bodies, exceptions, many threads on few
// cores. Data is shared without atomics on purpose: ThreadSanitizer must find no race.
#include "cpu/executor.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::cpu {
namespace {

TEST(Executor, EveryIndexOnceAndBodiesSeeWhatTheCallerWrote) {
    for (const int threads : {1, 2, 3, 64}) {
        executor pool(threads);
        for (const std::size_t count : {0, 1, 2, 63, 64, 1000}) {
            std::vector<int> in(count);
            std::vector<int> out(count, -1);
            std::iota(in.begin(), in.end(), 1);
            pool.for_each(count, [&](std::size_t i) { out[i] = in[i]; });
            EXPECT_EQ(in, out) << threads << " threads, " << count << " tasks";
            // A second round in which other threads read what the first one wrote.
            pool.for_each(count, [&](std::size_t i) { in[count - 1 - i] = out[i]; });
            std::reverse(in.begin(), in.end());
            EXPECT_EQ(in, out);
        }
    }
}

TEST(Executor, EachWorkerOnce) {
    for (const int threads : {1, 2, 64}) {
        executor pool(threads);
        std::vector<int> calls(static_cast<std::size_t>(threads));
        pool.for_each_worker([&](int worker) { ++calls[static_cast<std::size_t>(worker)]; });
        EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(threads), 1));
    }
}

// Each body waits until `threads` bodies run at the same time.
TEST(Executor, MoreThreadsThanCoresReallyRun) {
    constexpr int threads = 16;
    executor pool(threads);
    std::atomic<int> running{0};
    pool.for_each_worker([&](int) {
        ++running;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (running < threads && std::chrono::steady_clock::now() < limit) {
            std::this_thread::yield();
        }
        EXPECT_EQ(running, threads);
    });
}

TEST(Executor, AnExceptionReachesTheCallerAndThePoolStaysUsable) {
    executor pool(4);
    const auto failing = [](std::size_t i) {
        if (i == 17) throw std::runtime_error("task 17");
    };
    EXPECT_THROW(pool.for_each(100, failing), std::runtime_error);
    std::atomic<int> done{0};
    pool.for_each(100, [&](std::size_t) { ++done; });
    EXPECT_EQ(done, 100);
}

TEST(Executor, AvailableThreadsAreAtLeastOne) {
    EXPECT_GE(available_threads(), 1);
}

}  // namespace
}  // namespace lookback::cpu
