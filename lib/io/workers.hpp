// Level lib/io, private: the threads of one transfer.
// Invariant: items are taken in ascending order; the first exception or a stop request ends every
// worker before for_each_item returns, and is rethrown there.
#pragma once

#include "io/transfer.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace lookback::io {

/// The threads that a transfer uses: at least 1, at most one an item.
int thread_count(const transfer_options& options, std::uint64_t items);

/// Adds the time since its creation to a stage's counter.
class stage_timer {
public:
    stage_timer(transfer_counters* counters, stage stage)
        : counter_(counters != nullptr ? &(*counters)[stage] : nullptr) {}
    stage_timer(const stage_timer&) = delete;
    stage_timer& operator=(const stage_timer&) = delete;
    ~stage_timer() {
        if (counter_ == nullptr) return;
        const auto spent = std::chrono::steady_clock::now() - start_;
        counter_->nanoseconds.fetch_add(
            static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count()),
            std::memory_order_relaxed);
    }
    /// What the stage took in (read, decode) or gave out (work, encode, write).
    void add_bytes(std::uint64_t bytes) {
        if (counter_ != nullptr) counter_->bytes.fetch_add(bytes, std::memory_order_relaxed);
    }

private:
    stage_counter* counter_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The first failure of a group of workers; asking tells the others to end.
class failure_flag {
public:
    bool raised() const noexcept { return raised_.load(std::memory_order_acquire); }
    void raise(std::exception_ptr failure) noexcept {
        const std::scoped_lock lock(mutex_);
        if (failure_ == nullptr) failure_ = std::move(failure);
        raised_.store(true, std::memory_order_release);
    }
    void rethrow() const {
        if (failure_ != nullptr) std::rethrow_exception(failure_);
    }

private:
    std::atomic<bool> raised_ = false;
    std::mutex mutex_;
    std::exception_ptr failure_;
};

[[noreturn]] void throw_stopped();

/// make_worker() once a thread gives a function object, which is then called as worker(item) for
/// each item of [0, items) that the thread takes. `on_failure` wakes whoever waits inside one.
template <class MakeWorker, class OnFailure>
void for_each_item(std::uint64_t items, const transfer_options& options,
                   const MakeWorker& make_worker, const OnFailure& on_failure) {
    std::atomic<std::uint64_t> next = 0;
    failure_flag failure;
    const auto run = [&] {
        try {
            auto worker = make_worker();
            while (!failure.raised()) {
                const std::uint64_t item = next.fetch_add(1, std::memory_order_relaxed);
                if (item >= items) return;
                if (options.stop.stop_requested()) throw_stopped();
                worker(item);
            }
        } catch (...) {
            failure.raise(std::current_exception());
            on_failure();
        }
    };
    std::vector<std::thread> threads;
    try {
        for (int i = 1; i < thread_count(options, items); ++i) threads.emplace_back(run);
    } catch (const std::system_error&) {
        // Fewer threads than asked for: the others do the work.
    }
    run();
    for (auto& thread : threads) thread.join();
    failure.rethrow();
}

template <class MakeWorker>
void for_each_item(std::uint64_t items, const transfer_options& options,
                   const MakeWorker& make_worker) {
    for_each_item(items, options, make_worker, [] {});
}

}  // namespace lookback::io
