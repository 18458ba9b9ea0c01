// CPU backend: work handed out item by item to workers that keep state of their own.
// Invariant: tickets are given in ascending order, each once.
#pragma once

#include "cpu/executor.hpp"

#include <atomic>
#include <cstddef>

namespace lookback::cpu {

/// make(worker) gives each worker its body; body(ticket) runs for each ticket in [0, count).
template <class Make>
void for_each_ticket(executor& executor, std::size_t count, const Make& make) {
    std::atomic<std::size_t> next{0};
    executor.for_each_worker([&](int worker) {
        auto body = make(worker);
        for (;;) {
            const std::size_t ticket = next.fetch_add(1, std::memory_order_relaxed);
            if (ticket >= count) return;
            body(ticket);
        }
    });
}

}  // namespace lookback::cpu
