// Level L0 (core): what every header of kernels/ may assume about the compiler.
// Invariant: with g++ alone these macros vanish, so core code is ordinary C++20.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define LOOKBACK_HD __host__ __device__
#else
#define LOOKBACK_HD
#endif

namespace lookback::core {

/// Counts and positions of items; 64-bit everywhere outside a tile.
using index_t = std::int64_t;

template <class T>
LOOKBACK_HD constexpr T ceil_div(T value, T divisor) {
    return (value + divisor - 1) / divisor;
}

}  // namespace lookback::core
