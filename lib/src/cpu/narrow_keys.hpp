// CPU backend: sorts keys by counting, one digit at a time or the whole key at once.
// Invariant: stable; what the keys are compared by is order(key), which may be many-to-one.
#pragma once

#include "cpu/key_runs.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/core/key_order.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lookback::cpu {

/// Calls body(worker, begin, end) for the consecutive shares of n items.
template <class Body>
void for_each_share(executor& executor, std::size_t n, const Body& body) {
    const auto workers = static_cast<std::size_t>(executor.threads());
    const std::size_t share = n / workers + 1;
    executor.for_each(workers, [&](std::size_t w) {
        body(w, std::min(n, w * share), std::min(n, (w + 1) * share));
    });
}

/// Stable sort by bits [begin_bit, end_bit) of order(key), least digits first. Extra memory: one
/// key buffer. A pass whose digit is the same in all keys is skipped.
template <class Order>
void sort_by_digits(executor& executor, memory_resource& memory,
                    std::span<typename Order::bits_type> keys, Order order, int begin_bit,
                    int end_bit) {
    using Bits = typename Order::bits_type;
    // 256 buckets scatter at 1.0-1.4 ns a key, 2048 at twice that.
    constexpr int digit_bits = 8;
    constexpr std::size_t digits = std::size_t{1} << digit_bits;
    const std::size_t n = keys.size();
    buffer<Bits> room(memory, n);
    Bits* from = keys.data();
    Bits* to = room.data();
    const auto workers = static_cast<std::size_t>(executor.threads());
    std::vector<std::size_t> place(workers * digits);
    for (int shift = begin_bit; shift < end_bit; shift += digit_bits) {
        const int bits = std::min(digit_bits, end_bit - shift);
        std::fill(place.begin(), place.end(), std::size_t{0});
        for_each_share(executor, n, [&](std::size_t w, std::size_t begin, std::size_t end) {
            std::size_t* const count = place.data() + w * digits;
            for (std::size_t i = begin; i < end; ++i) {
                ++count[core::digit(order(from[i]), shift, bits)];
            }
        });
        std::size_t before = 0;
        bool constant = false;
        for (std::size_t digit = 0; digit < digits; ++digit) {
            const std::size_t first = before;
            for (std::size_t w = 0; w < workers; ++w) {
                before += std::exchange(place[w * digits + digit], before);
            }
            constant = constant || before - first == n;
        }
        if (constant) continue;
        for_each_share(executor, n, [&](std::size_t w, std::size_t begin, std::size_t end) {
            std::size_t* const next = place.data() + w * digits;
            for (std::size_t i = begin; i < end; ++i) {
                to[next[core::digit(order(from[i]), shift, bits)]++] = from[i];
            }
        });
        std::swap(from, to);
    }
    if (from == keys.data()) return;
    for_each_share(executor, n, [&](std::size_t /*w*/, std::size_t begin, std::size_t end) {
        std::copy(from + begin, from + end, to + begin);
    });
}

/// Sorts keys of one or two bytes by counting each pattern and writing it as often. Says no, with
/// nothing changed, where equal keys with different bits occur: these have an order to keep.
template <class Order>
bool sort_by_counts(executor& executor, std::span<typename Order::bits_type> keys, Order order) {
    using Bits = typename Order::bits_type;
    static_assert(sizeof(Bits) <= 2);
    constexpr std::size_t patterns = std::size_t{1} << (8 * sizeof(Bits));
    const auto workers = static_cast<std::size_t>(executor.threads());
    // Two counters in turn: equal neighbours would wait for each other's addition.
    std::vector<std::size_t> counts(workers * 2 * patterns, 0);
    for_each_share(executor, keys.size(), [&](std::size_t w, std::size_t begin, std::size_t end) {
        std::size_t* const even = counts.data() + w * 2 * patterns;
        std::size_t* const odd = even + patterns;
        std::size_t i = begin;
        for (; i + 2 <= end; i += 2) {
            ++even[keys[i]];
            ++odd[keys[i + 1]];
        }
        if (i < end) ++even[keys[i]];
    });
    std::vector<key_count<Bits>> runs;
    for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
        std::size_t sum = 0;
        for (std::size_t i = pattern; i < counts.size(); i += patterns) sum += counts[i];
        if (sum != 0) runs.push_back({static_cast<Bits>(pattern), sum});
    }
    std::sort(runs.begin(), runs.end(),
              [&](const auto& a, const auto& b) { return order(a.key) < order(b.key); });
    const auto same = [&](const auto& a, const auto& b) { return order(a.key) == order(b.key); };
    if (std::adjacent_find(runs.begin(), runs.end(), same) != runs.end()) return false;
    write_runs<Bits>(executor, runs, keys);
    return true;
}

}  // namespace lookback::cpu
