// CPU backend: scan of an array by the threads of a context.
// Invariant: one thread makes one straight pass; several take tiles by ticket and look back.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/scan_limits.hpp"

#include <lookback/scan.hpp>

#include <span>

namespace lookback::cpu {

/// As the public functions, with their arguments validated. An exclusive scan has an init.
template <class T>
void scan(executor& threads, memory_resource& memory, std::span<const T> in, std::span<T> out,
          bool exclusive, const scan_options<T>& options, const scan_limits& limits = {});

}  // namespace lookback::cpu
