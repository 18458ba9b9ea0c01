// Apps: IEEE 754 binary16 to and from float.
// Invariant: narrow() rounds to nearest, ties to even, as hardware and numpy do.
#pragma once

#include <lookback/types.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lookback::apps {

/// An IEEE 754 half as a float.
inline float widen(float16 half) {
    const int exponent = half.bits >> 10 & 31;
    const auto mantissa = static_cast<float>(half.bits & 1023);
    const float sign = half.bits >> 15 != 0 ? -1.0F : 1.0F;
    if (exponent == 31) {
        using limits = std::numeric_limits<float>;
        return sign * (mantissa != 0 ? limits::quiet_NaN() : limits::infinity());
    }
    return sign *
           (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

/// The float that is nearest among the halves.
inline float round_to_half(float value) {
    const float size = std::fabs(value);
    if (!(size < std::numeric_limits<float>::infinity())) return value;
    if (size >= 65520.0F) return std::copysign(std::numeric_limits<float>::infinity(), value);
    // Adding and taking away a power of two leaves as many bits as a half has at this size.
    int exponent = 0;
    std::frexp(size, &exponent);
    const int last_bit = exponent - 11 < -24 ? -24 : exponent - 11;
    const float scaled = std::ldexp(value, -last_bit);
    return std::ldexp(std::nearbyint(scaled), last_bit);
}

}  // namespace lookback::apps
