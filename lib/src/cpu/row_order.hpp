// CPU backend: comparisons of neighbouring rows over several key columns.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/key_column.hpp"

namespace lookback::cpu {

/// The first row that is out of order after the one before it, or `rows`.
std::size_t first_disorder(executor& executor, std::span<const key_column> columns,
                           std::size_t rows, bool strict);

/// heads[i] = whether row i (or index[i]) differs from the one before it.
void mark_heads(executor& executor, std::span<const key_column> columns,
                std::span<std::uint8_t> heads);
template <class Index>
void mark_heads(executor& executor, std::span<const key_column> columns,
                std::span<const Index> index, std::span<std::uint8_t> heads);

/// Row a of `left` against row b of `right`, one key of the same type and order in both.
int compare_rows(const sort_key& left, std::size_t a, const sort_key& right, std::size_t b);

}  // namespace lookback::cpu
