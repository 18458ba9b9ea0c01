// CPU backend: scan and reduction of each segment by itself, in equal tiles of items.
// Invariant: a tile with a head publishes its open end as a prefix at once: look-back stops there.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/scan_limits.hpp"

#include <lookback/segmented_scan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lookback::cpu {

/// As the public functions, with their arguments validated. An exclusive scan has an init.
template <class T>
void segmented_scan(executor& threads, memory_resource& memory, std::span<const T> in,
                    std::span<const std::int64_t> offsets, std::span<T> out, bool exclusive,
                    const scan_options<T>& options, const scan_limits& limits = {});

/// `empty` is what an empty segment gives.
template <class T>
void segmented_reduce(executor& threads, memory_resource& memory, std::span<const T> in,
                      std::span<const std::int64_t> offsets, std::span<T> out, T empty,
                      const scan_options<T>& options, const scan_limits& limits = {});

/// The first s > 0 with offsets[s] < offsets[s - 1], or offsets.size().
std::size_t first_decrease(executor& threads, std::span<const std::int64_t> offsets);

}  // namespace lookback::cpu
