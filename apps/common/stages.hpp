// Apps: the stages of a run, their counters and times; the progress bar and the report read them.
// Invariant: counters are atomics, so workers count and the bar reads without locks; stages may
// overlap.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace lookback::apps {

/// One stage: `done` of `total` bytes. Created by stages::add(), which owns it.
class stage {
public:
    /// Without `counter`, a borrowed one, the stage counts for itself.
    stage(std::string name, std::uint64_t total, std::atomic<std::uint64_t>* counter)
        : name_(std::move(name)), total_(total), counter_(counter != nullptr ? counter : &own_) {}

    const std::string& name() const noexcept { return name_; }
    std::uint64_t total() const noexcept { return total_; }
    /// Bytes done so far; workers add to it.
    std::atomic<std::uint64_t>& done() noexcept { return *counter_; }
    std::uint64_t bytes() const noexcept { return counter_->load(std::memory_order_relaxed); }
    /// Seconds from the first start to the last finish, pauses left out.
    double seconds() const noexcept;
    bool running() const noexcept { return running_.load(std::memory_order_acquire); }

    void start();
    void finish();

private:
    using clock = std::chrono::steady_clock;
    std::string name_;
    std::uint64_t total_;
    std::atomic<std::uint64_t> own_{0};
    std::atomic<std::uint64_t>* counter_;
    std::atomic<bool> running_{false};
    std::atomic<std::int64_t> nanoseconds_{0};  // of finished spells
    std::atomic<std::int64_t> started_{0};      // of the running spell, since the clock's epoch
};

/// Starts a stage here and finishes it at the end of the scope.
class stage_scope {
public:
    explicit stage_scope(stage& timed) : stage_(timed) { stage_.start(); }
    ~stage_scope() { stage_.finish(); }
    stage_scope(const stage_scope&) = delete;
    stage_scope& operator=(const stage_scope&) = delete;

private:
    stage& stage_;
};

class stages {
public:
    /// A stage that will do `total` bytes of work. Its address stays valid. A borrowed `counter` is
    /// read until the report is written: take one of session::counters.
    stage& add(std::string_view name, std::uint64_t total,
               std::atomic<std::uint64_t>* counter = nullptr);
    /// visit(stage) for each, in the order added; other threads may add meanwhile.
    template <class Visitor>
    void for_each(const Visitor& visit) const {
        const std::scoped_lock lock(mutex_);
        for (const stage& each : all_) visit(each);
    }

private:
    mutable std::mutex mutex_;
    std::deque<stage> all_;
};

}  // namespace lookback::apps
