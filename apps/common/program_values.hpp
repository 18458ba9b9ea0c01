// Apps: the operations of programs on single values, for constants and for the loops over rows.
// Invariant: what exceeds its type says so; nothing is undefined, whatever the values.
#pragma once

#include "common/program.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace lookback::apps {

/// Sets `fault` where the sum, difference, product exceeds T.
template <class T>
T checked_add(T a, T b, bool& fault) {
    T result;
    fault = __builtin_add_overflow(a, b, &result);
    return result;
}
template <class T>
T checked_subtract(T a, T b, bool& fault) {
    T result;
    fault = __builtin_sub_overflow(a, b, &result);
    return result;
}
template <class T>
T checked_multiply(T a, T b, bool& fault) {
    T result;
    fault = __builtin_mul_overflow(a, b, &result);
    return result;
}

/// The remainder that has the sign of the divisor.
template <class T>
T floored_remainder(T a, T b, bool& fault) {
    if constexpr (std::is_floating_point_v<T>) {
        fault = false;
        const T rest = std::fmod(a, b);
        if (b == 0 || std::isnan(rest)) return rest;
        if (rest == 0) return std::copysign(T(0), b);
        return (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
        fault = b == 0;
        if (fault) return 0;
        if constexpr (T(-1) < T(0)) {
            if (b == -1) return 0;  // the quotient of the least number has no place
            const T rest = static_cast<T>(a % b);
            return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
        } else {
            return static_cast<T>(a % b);
        }
    }
}

/// A shift by a negative number is a fault, and so are bits lost on the left.
template <class T>
T shifted_left(T a, T by, bool& fault) {
    constexpr int width = 8 * sizeof(T);
    fault = by < 0 || (a != 0 && by >= width);
    if (fault || a == 0) return 0;
    bool lost = false;
    T result = a;
    // Doubling tells of each lost bit; the number of steps is small.
    for (int step = 0; step < static_cast<int>(by); ++step) {
        bool over = false;
        result = checked_add<T>(result, result, over);
        lost = lost || over;
    }
    fault = lost;
    return result;
}
template <class T>
T shifted_right(T a, T by, bool& fault) {
    constexpr int width = 8 * sizeof(T);
    fault = by < 0;
    if (fault) return 0;
    if (by >= width) return a < 0 ? T(-1) : T(0);
    return static_cast<T>(a >> static_cast<int>(by));
}

/// A whole number against a real one, exactly: -1, 0, 1, or 2 for NaN.
inline int exact_order(int128 whole, double real) {
    if (real != real) return 2;
    const double limit = std::ldexp(1.0, 126);
    if (real >= limit) return -1;
    if (real <= -limit) return 1;
    const double below = std::floor(real);
    const auto whole_below = static_cast<int128>(below);
    if (whole < whole_below) return -1;
    if (whole > whole_below) return 1;
    return real > below ? -1 : 0;
}

template <class T>
T least_or_nan(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a)) return a;
        if (std::isnan(b)) return b;
    }
    return b < a ? b : a;
}
template <class T>
T greatest_or_nan(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a)) return a;
        if (std::isnan(b)) return b;
    }
    return a < b ? b : a;
}

}  // namespace lookback::apps
