// CPU backend: floating-point scans by the fixed tree of kernels/core/reproducible_tree.hpp.
// Invariant: the same bits from any number of threads and any instruction set, and as on the GPU.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/scan_limits.hpp"

#include <lookback/scan.hpp>

#include <span>

namespace lookback::cpu {

/// As cpu::scan(), for plus and multiplies of float and double. The tree fixes the tiles.
template <class T>
void scan_reproducible(executor& threads, memory_resource& memory, std::span<const T> in,
                       std::span<T> out, bool exclusive, const scan_options<T>& options,
                       const scan_limits& limits);

}  // namespace lookback::cpu
