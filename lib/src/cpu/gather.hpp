// CPU backend: rows of fixed size moved through an index.
#pragma once

#include "cpu/executor.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace lookback::cpu {

/// The first position whose index is outside [0, rows), or index.size().
template <class Index>
std::size_t first_outside(executor& executor, std::span<const Index> index, std::size_t rows);

/// out[i] = in[index[i]], items of item_bytes bytes; every index is valid.
template <class Index>
void gather(executor& executor, const void* in, std::size_t item_bytes,
            std::span<const Index> index, void* out);

}  // namespace lookback::cpu
