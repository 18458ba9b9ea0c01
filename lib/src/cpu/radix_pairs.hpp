// CPU backend: keys sorted in place, each with a value of 1, 2, 4, 8 or 16 bytes.
// Invariant: stable; the same bytes from any number of threads.
#pragma once

#include "cpu/executor.hpp"

#include <lookback/context.hpp>
#include <lookback/radix_sort.hpp>

#include <cstddef>

namespace lookback::cpu {

/// Sorts n keys of `type` by bits [begin_bit, end_bit) of the ordered key, values with them.
void sort_pairs(executor& executor, memory_resource& memory, void* keys, data_type type,
                const sort_options& options, void* values, std::size_t value_bytes, std::size_t n);

/// At most what sort_pairs() allocates.
std::size_t sort_pairs_memory(std::size_t n, std::size_t key_bytes, std::size_t value_bytes,
                              int threads);

}  // namespace lookback::cpu
