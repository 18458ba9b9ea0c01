// CPU backend: floating-point scans and sums of segments by the fixed tree of
// kernels/core/reproducible_tree.hpp over the whole array, on pairs of value and head flag.
// Invariant: the same bits from any number of threads. init joins each result last.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/scan_limits.hpp"

#include <lookback/segmented_scan.hpp>

#include <cstdint>
#include <span>

namespace lookback::cpu {

enum class segment_result { inclusive, exclusive, total };

/// For plus and multiplies of float and double. `out` has one item for each item, or (total) for
/// each segment; empty segments are left alone.
template <class T>
void segmented_reproducible(executor& threads, memory_resource& memory, std::span<const T> in,
                            std::span<const std::int64_t> offsets, std::span<T> out,
                            segment_result result, const scan_options<T>& options,
                            const scan_limits& limits);

}  // namespace lookback::cpu
