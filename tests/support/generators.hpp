// Tests and benchmarks: seeded keys of every type, in the shapes at which sorts are good or bad.
// Invariant: the same distribution, size and seed give the same bytes on every machine.
#pragma once

#include <lookback/types.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lookback::test {

/// SplitMix64: every seed is good, and a seed plus a position is a seed.
class random_bits {
public:
    explicit random_bits(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()() {
        std::uint64_t x = state_ += 0x9e3779b97f4a7c15U;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
        x = (x ^ x >> 27) * 0x94d049bb133111ebU;
        return x ^ x >> 31;
    }
    /// Uniform in [0, 1).
    double fraction() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_;
};

enum class distribution {
    uniform,           ///< integers over the whole range; reals in [-1, 1)
    sorted,            ///< ascending
    reversed,          ///< descending
    all_equal,         ///< one value
    two_values,        ///< two values far apart
    zipf,              ///< value r with a probability of about 1 / r
    sawtooth,          ///< ramps of 1000 steps, or as many as the type has
    constant_digit,    ///< uniform, but eight bits (four of a byte) are the same in all keys
    skewed_exponents,  ///< magnitudes spread over powers of two: most buckets stay empty
    specials,          ///< signed zeros, NaNs with payloads, infinities, extremes
};

inline constexpr distribution all_distributions[] = {
    distribution::uniform,   distribution::sorted,         distribution::reversed,
    distribution::all_equal, distribution::two_values,     distribution::zipf,
    distribution::sawtooth,  distribution::constant_digit, distribution::skewed_exponents,
    distribution::specials,
};

constexpr std::string_view name_of(distribution shape) {
    constexpr std::string_view names[] = {
        "uniform", "sorted",   "reversed",       "all_equal",        "two_values",
        "zipf",    "sawtooth", "constant_digit", "skewed_exponents", "specials"};
    return names[static_cast<int>(shape)];
}

/// The double nearest in the type's own terms; float16 by truncation.
template <sortable_item T>
T narrow(double value) {
    if constexpr (std::is_same_v<T, float16>) {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
        const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
        const int exponent = static_cast<int>(bits >> 23 & 0xffU) - 112;
        if (exponent <= 0) return {sign};
        if (exponent >= 31) return {static_cast<std::uint16_t>(sign | 0x7c00U)};
        return {static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent) << 10 |
                                           (bits >> 13 & 0x3ffU))};
    } else {
        return static_cast<T>(value);
    }
}

template <sortable_item T>
using bits_of = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// A growing function of x that spans the integers, or [-1, 1).
template <sortable_item T>
T spread(std::int64_t x) {
    if constexpr (std::is_integral_v<T>) {
        constexpr std::uint64_t sign = std::uint64_t{1} << 63;
        const std::uint64_t from_least = static_cast<std::uint64_t>(x) ^ sign;
        const auto high = static_cast<bits_of<T>>(from_least >> (64 - 8 * sizeof(T)));
        if constexpr (std::is_unsigned_v<T>) return high;
        return static_cast<T>(high ^ static_cast<bits_of<T>>(bits_of<T>{1} << (8 * sizeof(T) - 1)));
    } else {
        return narrow<T>(static_cast<double>(x) * 0x1p-63);
    }
}

template <sortable_item T>
T special(std::uint64_t random) {
    const auto low = static_cast<bits_of<T>>(random >> 8);
    if constexpr (std::is_integral_v<T>) {
        const T values[] = {std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max(),
                            T(0),
                            T(1),
                            static_cast<T>(-1),
                            static_cast<T>(low)};
        return values[random % 6];
    } else {
        constexpr int width = 8 * sizeof(T);
        constexpr int mantissa = width == 16 ? 10 : width == 32 ? 23 : 52;
        using Bits = bits_of<T>;
        constexpr auto sign = static_cast<Bits>(Bits{1} << (width - 1));
        constexpr auto infinity =
            static_cast<Bits>(((Bits{1} << (width - 1 - mantissa)) - 1) << mantissa);
        const Bits values[] = {
            Bits{0},
            sign,
            infinity,
            static_cast<Bits>(infinity | sign),
            Bits{1},
            static_cast<Bits>(Bits{1} | sign),        // the least magnitude
            static_cast<Bits>(infinity | sign | 1U),  // a NaN below all numbers by bits
            static_cast<Bits>(infinity | low | 1U),   // NaNs of either sign with payloads
            static_cast<Bits>(infinity - 1U),
            low};
        return std::bit_cast<T>(values[random % 10]);
    }
}

template <sortable_item T>
T skewed(random_bits& random) {
    const std::uint64_t x = random();
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(static_cast<bits_of<T>>(random() >> (64 - 8 * sizeof(T))) >>
                              x % (8 * sizeof(T)));
    } else {
        // The sum of three uniform exponents: a hump around 1, with long tails.
        const int exponent = static_cast<int>(x % 9 + (x >> 20) % 9 + (x >> 40) % 9) - 12;
        const double value = std::ldexp(1.0 + random.fraction(), exponent);
        return narrow<T>((x >> 63) != 0 ? -value : value);
    }
}

template <sortable_item T>
T item_of(distribution shape, std::size_t i, std::size_t n, random_bits& random) {
    constexpr std::uint64_t range = sizeof(T) == 1 ? 100 : 1000;
    const auto ramp = [n](std::size_t step) {
        const std::uint64_t stride = ~std::uint64_t{0} / (n + 1);
        return spread<T>(static_cast<std::int64_t>(step * stride ^ std::uint64_t{1} << 63));
    };
    switch (shape) {
        case distribution::uniform:
            return spread<T>(static_cast<std::int64_t>(random()));
        case distribution::sorted:
            return ramp(i);
        case distribution::reversed:
            return ramp(n - i);
        case distribution::all_equal:
            return narrow<T>(42);
        case distribution::two_values:
            return spread<T>((random() >> 63) != 0 ? std::numeric_limits<std::int64_t>::max() / 3
                                                   : std::numeric_limits<std::int64_t>::min() / 3);
        case distribution::zipf: {
            const double last = sizeof(T) == 1 ? 100 : sizeof(T) == 2 ? 30'000 : 1'000'000;
            return narrow<T>(std::floor(std::exp(random.fraction() * std::log(last))));
        }
        case distribution::sawtooth:
            return narrow<T>(static_cast<double>(i % range));
        case distribution::constant_digit: {
            const auto bits =
                std::bit_cast<bits_of<T>>(spread<T>(static_cast<std::int64_t>(random())));
            constexpr std::uint64_t digit = sizeof(T) == 1   ? 0x0fU
                                            : sizeof(T) == 2 ? 0xffU
                                                             : 0xff00U;
            return std::bit_cast<T>(static_cast<bits_of<T>>(bits & ~digit));
        }
        case distribution::skewed_exponents:
            return skewed<T>(random);
        case distribution::specials:
            break;
    }
    return special<T>(random());
}

template <sortable_item T>
std::vector<T> generate(distribution shape, std::size_t n, std::uint64_t seed = 1) {
    random_bits random(seed);
    std::vector<T> items(n);
    for (std::size_t i = 0; i < n; ++i) items[i] = item_of<T>(shape, i, n, random);
    return items;
}

}  // namespace lookback::test
