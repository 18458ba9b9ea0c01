// CPU backend: the stable order of rows by one or several key columns.
// Invariant: the same index from any number of threads; columns are only read.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/key_column.hpp"

#include <lookback/context.hpp>

#include <cstdint>
#include <span>

namespace lookback::cpu {

/// index = the stable order of index.size() rows.
template <class Index>
void argsort(executor& executor, memory_resource& memory, std::span<const key_column> columns,
             std::span<Index> index);

/// The same inside each segment [offsets[s], offsets[s + 1]); the offsets are valid.
template <class Index>
void argsort_segments(executor& executor, memory_resource& memory,
                      std::span<const key_column> columns, std::span<const std::int64_t> offsets,
                      std::span<Index> index);

/// At most what either allocates for n rows.
std::size_t argsort_memory(std::size_t n, int threads);

}  // namespace lookback::cpu
