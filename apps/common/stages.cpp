#include "common/stages.hpp"

namespace lookback::apps {
namespace {

std::int64_t now_nanoseconds() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

double stage::seconds() const noexcept {
    std::int64_t spent = nanoseconds_.load(std::memory_order_relaxed);
    if (running()) spent += now_nanoseconds() - started_.load(std::memory_order_relaxed);
    return static_cast<double>(spent) * 1e-9;
}

void stage::start() {
    started_.store(now_nanoseconds(), std::memory_order_relaxed);
    running_.store(true, std::memory_order_release);
}

void stage::finish() {
    if (!running()) return;
    nanoseconds_ += now_nanoseconds() - started_.load(std::memory_order_relaxed);
    running_.store(false, std::memory_order_release);
}

stage& stages::add(std::string_view name, std::uint64_t total,
                   std::atomic<std::uint64_t>* counter) {
    const std::scoped_lock lock(mutex_);
    return all_.emplace_back(std::string(name), total, counter);
}

}  // namespace lookback::apps
