// Apps: IEEE 754 binary16 to and from float.
// Invariant: narrowing rounds to nearest, ties to even, as hardware and numpy do.
#pragma once

#include <lookback/kernels/core/row_values.hpp>
#include <lookback/types.hpp>

namespace lookback::apps {

/// An IEEE 754 half as a float.
inline float widen(float16 half) {
    return core::widen_half(half.bits);
}

using core::round_to_half;

}  // namespace lookback::apps
