// Level L0 (core): what the instructions of row_program.hpp do to single values; the one definition
// for constants, for the CPU's loops and for the GPU's.
// Invariant: what exceeds its type says so; nothing is undefined, whatever the values.
#pragma once

#include <lookback/kernels/core/row_program.hpp>

#include <cmath>
#include <cstring>
#include <type_traits>

namespace lookback::core {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T>;
template <class T>
inline constexpr bool is_signed_whole = !is_real<T> && T(-1) < T(0);
/// The unsigned integer of an integer's size.
template <class T>
using unsigned_of = std::conditional_t<
    sizeof(T) == 16, uint128,
    std::conditional_t<sizeof(T) == 8, std::uint64_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>>;

/// Sets `fault` where the sum, difference, product exceeds T.
template <class T>
LOOKBACK_HD constexpr T checked_add(T a, T b, bool& fault) {
    using bits = unsigned_of<T>;
    const auto sum = static_cast<T>(static_cast<bits>(static_cast<bits>(a) + static_cast<bits>(b)));
    if constexpr (is_signed_whole<T>) {
        fault = ((a ^ sum) & (b ^ sum)) < 0;
    } else {
        fault = sum < a;
    }
    return sum;
}
template <class T>
LOOKBACK_HD constexpr T checked_subtract(T a, T b, bool& fault) {
    using bits = unsigned_of<T>;
    const auto rest =
        static_cast<T>(static_cast<bits>(static_cast<bits>(a) - static_cast<bits>(b)));
    if constexpr (is_signed_whole<T>) {
        fault = ((a ^ b) & (a ^ rest)) < 0;
    } else {
        fault = a < b;
    }
    return rest;
}
/// The product of two magnitudes; `over` where it exceeds 128 bits.
LOOKBACK_HD constexpr uint128 magnitude_product(uint128 a, uint128 b, bool& over) {
    const auto low_a = static_cast<std::uint64_t>(a);
    const auto low_b = static_cast<std::uint64_t>(b);
    const auto high_a = static_cast<std::uint64_t>(a >> 64);
    const auto high_b = static_cast<std::uint64_t>(b >> 64);
    // One high part is 0, or the product is too long anyway.
    const uint128 middle = uint128{high_a} * low_b + uint128{high_b} * low_a;
    const uint128 low = uint128{low_a} * low_b;
    const uint128 product = (middle << 64) + low;
    over = (high_a != 0 && high_b != 0) || middle >> 64 != 0 || product < low;
    return product;
}
template <class T>
LOOKBACK_HD constexpr T checked_multiply(T a, T b, bool& fault) {
    if constexpr (sizeof(T) < 16) {
        using wide = std::conditional_t<is_signed_whole<T>, int128, uint128>;
        const wide product = static_cast<wide>(a) * static_cast<wide>(b);
        fault = product != static_cast<wide>(static_cast<T>(product));
        return static_cast<T>(product);
    } else {
        const bool negative = (a < 0) != (b < 0);
        const uint128 size_a = a < 0 ? ~static_cast<uint128>(a) + 1 : static_cast<uint128>(a);
        const uint128 size_b = b < 0 ? ~static_cast<uint128>(b) + 1 : static_cast<uint128>(b);
        bool over = false;
        const uint128 size = magnitude_product(size_a, size_b, over);
        const uint128 limit = (uint128{1} << 127) - (negative ? 0 : 1);
        fault = over || size > limit;
        return static_cast<T>(negative ? ~size + 1 : size);
    }
}

/// The remainder that has the sign of the divisor.
template <class T>
LOOKBACK_HD T floored_remainder(T a, T b, bool& fault) {
    if constexpr (is_real<T>) {
        fault = false;
        const T rest = std::fmod(a, b);
        if (b == 0 || std::isnan(rest)) return rest;
        if (rest == 0) return std::copysign(T(0), b);
        return (rest < 0) != (b < 0) ? rest + b : rest;
    } else {
        fault = b == 0;
        if (fault) return 0;
        if constexpr (is_signed_whole<T>) {
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
LOOKBACK_HD constexpr T shifted_left(T a, T by, bool& fault) {
    constexpr int width = 8 * sizeof(T);
    bool outside = by >= width;
    if constexpr (is_signed_whole<T>) outside = outside || by < 0;
    fault = (a != 0 && outside);
    if constexpr (is_signed_whole<T>) fault = fault || by < 0;
    if (fault || a == 0) return 0;
    using bits = unsigned_of<T>;
    const auto result =
        static_cast<T>(static_cast<bits>(static_cast<bits>(a) << static_cast<int>(by)));
    // What comes back differs where a bit, or the sign, was lost.
    fault = static_cast<T>(result >> static_cast<int>(by)) != a;
    return result;
}
template <class T>
LOOKBACK_HD constexpr T shifted_right(T a, T by, bool& fault) {
    constexpr int width = 8 * sizeof(T);
    fault = false;
    if constexpr (is_signed_whole<T>) {
        fault = by < 0;
        if (fault) return 0;
        if (by >= width) return a < 0 ? T(-1) : T(0);
    } else {
        if (by >= width) return 0;
    }
    return static_cast<T>(a >> static_cast<int>(by));
}

/// A whole number against a real one, exactly: -1, 0, 1, or 2 for NaN.
LOOKBACK_HD inline int exact_order(int128 whole, double real) {
    if (std::isnan(real)) return 2;
    constexpr double limit = 0x1p126;
    if (real >= limit) return -1;
    if (real <= -limit) return 1;
    const double below = std::floor(real);
    const auto whole_below = static_cast<int128>(below);
    if (whole < whole_below) return -1;
    if (whole > whole_below) return 1;
    return real > below ? -1 : 0;
}

template <class T>
LOOKBACK_HD T least_or_nan(T a, T b) {
    if constexpr (is_real<T>) {
        if (std::isnan(a)) return a;
        if (std::isnan(b)) return b;
    }
    return b < a ? b : a;
}
template <class T>
LOOKBACK_HD T greatest_or_nan(T a, T b) {
    if constexpr (is_real<T>) {
        if (std::isnan(a)) return a;
        if (std::isnan(b)) return b;
    }
    return a < b ? b : a;
}

/// An IEEE 754 half as a float.
LOOKBACK_HD inline float widen_half(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
    const std::uint32_t exponent = half >> 10 & 31U;
    const std::uint32_t mantissa = half & 1023U;
    std::uint32_t bits = 0;
    if (exponent == 31) {
        bits = sign | 0x7f800000U | (mantissa != 0 ? 0x400000U : 0U);
    } else if (exponent != 0) {
        bits = sign | (exponent + 112) << 23 | mantissa << 13;
    } else {
        const float size = static_cast<float>(mantissa) * 0x1p-24F;
        std::memcpy(&bits, &size, sizeof(bits));
        bits |= sign;
    }
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
}

/// The float that is nearest among the halves.
LOOKBACK_HD inline float round_to_half(float value) {
    const float size = std::fabs(value);
    if (!(size <= 3.402823466e38F)) return value;
    if (size >= 65520.0F) return std::copysign(HUGE_VALF, value);
    // Adding and taking away a power of two leaves as many bits as a half has at this size.
    int exponent = 0;
    std::frexp(size, &exponent);
    const int last_bit = exponent - 11 < -24 ? -24 : exponent - 11;
    const float scaled = std::ldexp(value, -last_bit);
    return std::ldexp(std::nearbyint(scaled), last_bit);
}

/// Operations on two values that cost a few instructions at most, as body(f) with f(a, b, fault).
template <class T, class Body>
LOOKBACK_HD void with_simple_pair(opcode op, const Body& body) {
    if constexpr (!is_real<T>) {
        switch (op) {
            case opcode::add:
                return body([](T a, T b, bool& fault) { return checked_add<T>(a, b, fault); });
            case opcode::subtract:
                return body([](T a, T b, bool& fault) { return checked_subtract<T>(a, b, fault); });
            case opcode::multiply:
                return body([](T a, T b, bool& fault) { return checked_multiply<T>(a, b, fault); });
            case opcode::bit_and:
                return body([](T a, T b, bool&) { return static_cast<T>(a & b); });
            case opcode::bit_or:
                return body([](T a, T b, bool&) { return static_cast<T>(a | b); });
            case opcode::bit_xor:
                return body([](T a, T b, bool&) { return static_cast<T>(a ^ b); });
            default:
                break;
        }
    } else {
        switch (op) {
            case opcode::add:
                return body([](T a, T b, bool&) { return a + b; });
            case opcode::subtract:
                return body([](T a, T b, bool&) { return a - b; });
            case opcode::multiply:
                return body([](T a, T b, bool&) { return a * b; });
            default:
                break;
        }
    }
    if (op == opcode::minimum) {
        return body([](T a, T b, bool&) { return least_or_nan<T>(a, b); });
    }
    body([](T a, T b, bool&) { return greatest_or_nan<T>(a, b); });
}

/// The other operations on two values: divide, remainder, shifts.
LOOKBACK_HD constexpr bool is_costly_pair(opcode op) {
    return op == opcode::divide || op == opcode::remainder || op == opcode::shift_left ||
           op == opcode::shift_right;
}
template <class T, class Body>
LOOKBACK_HD void with_costly_pair(opcode op, const Body& body) {
    if (op == opcode::remainder) {
        return body([](T a, T b, bool& fault) { return floored_remainder<T>(a, b, fault); });
    }
    if constexpr (is_real<T>) {
        body([](T a, T b, bool&) { return a / b; });
    } else if (op == opcode::shift_left) {
        body([](T a, T b, bool& fault) { return shifted_left<T>(a, b, fault); });
    } else {
        body([](T a, T b, bool& fault) { return shifted_right<T>(a, b, fault); });
    }
}

/// Operations on one real value, as body(f) with f(a).
template <class T, class Body>
LOOKBACK_HD void with_single(opcode op, const Body& body) {
    switch (op) {
        case opcode::negate:
            return body([](T a) { return -a; });
        case opcode::absolute:
            return body([](T a) { return std::fabs(a); });
        case opcode::floor:
            return body([](T a) { return std::floor(a); });
        case opcode::square_root:
            return body([](T a) { return std::sqrt(a); });
        default:
            return body([](T a) { return static_cast<T>(round_to_half(static_cast<float>(a))); });
    }
}

/// Questions about two values, as body(f) with f(a, b) true or false.
template <class T, class Body>
LOOKBACK_HD void with_comparison(opcode op, const Body& body) {
    switch (op) {
        case opcode::less:
            return body([](const T& a, const T& b) { return a < b; });
        case opcode::less_equal:
            return body([](const T& a, const T& b) { return a <= b; });
        case opcode::equal:
            return body([](const T& a, const T& b) { return a == b; });
        case opcode::not_equal:
            return body([](const T& a, const T& b) { return a != b; });
        case opcode::greater_equal:
            return body([](const T& a, const T& b) { return a >= b; });
        default:
            return body([](const T& a, const T& b) { return a > b; });
    }
}

/// Which of the groups an operation is in.
LOOKBACK_HD constexpr bool is_comparison(opcode op) {
    return op >= opcode::less && op <= opcode::greater;
}
LOOKBACK_HD constexpr bool is_simple_pair(opcode op) {
    return (op >= opcode::add && op <= opcode::maximum) && !is_costly_pair(op);
}
LOOKBACK_HD constexpr bool is_single(opcode op) {
    return op == opcode::round_half || (op >= opcode::negate && op <= opcode::square_root);
}
LOOKBACK_HD constexpr bool gives_truth(opcode op) {
    return is_comparison(op) || op == opcode::is_nan || op == opcode::is_finite ||
           op >= opcode::logical_and;
}

/// The comparison that says the same with left and right exchanged.
LOOKBACK_HD constexpr opcode mirrored(opcode op) {
    switch (op) {
        case opcode::less:
            return opcode::greater;
        case opcode::less_equal:
            return opcode::greater_equal;
        case opcode::greater_equal:
            return opcode::less_equal;
        case opcode::greater:
            return opcode::less;
        default:
            return op;
    }
}

/// is_nan and is_finite of a real value.
template <class T>
LOOKBACK_HD bool test_real(opcode op, T value) {
    return op == opcode::is_nan ? std::isnan(value) : std::isfinite(value);
}

}  // namespace lookback::core
