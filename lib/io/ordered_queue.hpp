// Level lib/io, private: puts what several threads make back into order.
// Invariant: items leave in the order of their numbers, one at a time, on the thread that brought
// the one that was missing; at most `window` items wait, so memory is bounded.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace lookback::io {

template <class Payload>
class ordered_queue {
public:
    explicit ordered_queue(std::uint64_t window) : window_(window) {}

    /// Hands over item `number`; calls consume(payload) for each item that is next in order.
    /// Waits while `number` is too far ahead. Returns at once after abort().
    template <class Consume>
    void submit(std::uint64_t number, Payload&& payload, const Consume& consume) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return aborted_ || number < next_ + window_; });
        if (aborted_) return;
        waiting_.emplace(number, std::move(payload));
        if (consuming_) return;
        consuming_ = true;
        for (auto item = waiting_.find(next_); item != waiting_.end() && !aborted_;
             item = waiting_.find(next_)) {
            Payload current = std::move(item->second);
            waiting_.erase(item);
            lock.unlock();
            consume(current);  // after an exception the owner calls abort()
            lock.lock();
            ++next_;
            changed_.notify_all();
        }
        consuming_ = false;
    }

    /// Wakes and dismisses everyone: some thread has failed.
    void abort() {
        const std::scoped_lock lock(mutex_);
        aborted_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint64_t, Payload> waiting_;
    std::uint64_t next_ = 0;
    std::uint64_t window_;
    bool consuming_ = false;
    bool aborted_ = false;
};

}  // namespace lookback::io
