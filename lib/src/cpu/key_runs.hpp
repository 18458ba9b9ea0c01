// CPU backend: sorted keys written as runs of equal ones, where counting has told their lengths.
// Invariant: whole lines go past the caches and each task ends with a fence.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/radix_partition.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookback::cpu {

/// Keys that one task writes.
inline constexpr std::size_t run_task_keys = std::size_t{1} << 18;

/// Writes `n` copies of a key, whole lines past the caches.
template <class Bits>
void fill_keys(Bits* out, std::size_t n, Bits key) {
    constexpr std::size_t line = 64 / sizeof(Bits);
    alignas(64) std::array<Bits, line> copies;
    copies.fill(key);
    while (n != 0 && reinterpret_cast<std::uintptr_t>(out) % 64 != 0) {
        *out++ = key;
        --n;
    }
    for (; n >= line; n -= line, out += line) stream_lines<64>(out, copies.data());
    std::fill_n(out, n, key);
}

/// A key and how often it occurs.
template <class Bits>
struct key_count {
    Bits key;
    std::size_t count;
};

/// Writes runs of equal keys, one after the other, on all threads.
template <class Bits>
void write_runs(executor& executor, std::span<const key_count<Bits>> runs, std::span<Bits> out) {
    std::vector<std::size_t> begin(1, 0);
    for (const auto& run : runs) begin.push_back(begin.back() + run.count);
    executor.for_each((out.size() + run_task_keys - 1) / run_task_keys, [&](std::size_t task) {
        std::size_t at = task * run_task_keys;
        const std::size_t end = std::min(out.size(), at + run_task_keys);
        auto run = static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), at) -
                                            begin.begin()) -
                   1;
        for (; at < end; ++run) {
            const std::size_t stop = std::min(end, begin[run + 1]);
            fill_keys(out.data() + at, stop - at, runs[run].key);
            at = stop;
        }
        stream_fence();
    });
}

}  // namespace lookback::cpu
