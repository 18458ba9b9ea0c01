// h5scan: values of one element type as another, exactly or not at all.
// Invariant: an integer target never holds anything but the number that was there; a float target
// may round, as a cast does.
#pragma once

#include "common/half.hpp"

#include <lookback/types.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace lookback::apps::h5scan {

template <class To, class From>
bool fits(From value) {
    if constexpr (std::floating_point<To>) {
        return true;
    } else if constexpr (std::integral<From>) {
        return std::in_range<To>(value);
    } else {
        // Both bounds are powers of two, so they are exact in the float type.
        const From above = std::ldexp(From(1), std::numeric_limits<To>::digits);
        const From below = std::is_signed_v<To> ? -above : From(0);
        return value >= below && value < above && value == std::trunc(value);
    }
}

/// to[i] = from[i]; the first i whose value an integer target cannot hold (fractions and NaN too),
/// or none. `wrap` lets integers wrap instead.
template <class To, class From>
std::optional<std::size_t> convert(std::span<const From> from, To* to, bool wrap) {
    for (std::size_t i = 0; i < from.size(); ++i) {
        if constexpr (is_one_of<From, float16>) {
            const float value = widen(from[i]);
            if (!fits<To>(value)) return i;
            to[i] = static_cast<To>(value);
        } else {
            const bool may_wrap = wrap && std::integral<From>;
            if (!may_wrap && !fits<To>(from[i])) return i;
            to[i] = static_cast<To>(from[i]);
        }
    }
    return std::nullopt;
}

}  // namespace lookback::apps::h5scan
