// Tests: what a stable sort must give, by std::stable_sort and comparisons written out.
// Invariant: nothing here uses the library's own mapping of keys.
#pragma once

#include "support/generators.hpp"

#include <lookback/radix_sort.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace lookback::test {

/// A key as a number that the language compares; float16 widened exactly.
template <sortable_item T>
auto comparable(T key) {
    if constexpr (std::is_same_v<T, float16>) {
        const int exponent = key.bits >> 10 & 31;
        const int mantissa = key.bits & 1023;
        const double sign = key.bits >> 15 != 0 ? -1 : 1;
        if (exponent == 31) {
            return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : sign * std::numeric_limits<double>::infinity();
        }
        if (exponent == 0) return sign * std::ldexp(mantissa, -24);
        return sign * std::ldexp(mantissa + 1024, exponent - 25);
    } else {
        return key;
    }
}

/// Whether key a must stand before key b.
template <sortable_item T>
bool stands_before(T a, T b, const sort_order& order) {
    const auto x = comparable(a);
    const auto y = comparable(b);
    if constexpr (!std::is_integral_v<T>) {
        if (std::isnan(x) || std::isnan(y)) {
            return order.nan_first ? std::isnan(x) && !std::isnan(y)
                                   : !std::isnan(x) && std::isnan(y);
        }
    }
    return order.descending ? y < x : x < y;
}

/// The same for a range of bits of an integer key, counted from its least value.
template <sortable_item T>
bool stands_before(T a, T b, const sort_options& options) {
    if constexpr (std::is_integral_v<T>) {
        if (options.begin_bit != 0 || options.end_bit != 0) {
            const int end =
                options.end_bit != 0 ? options.end_bit : 8 * static_cast<int>(sizeof(T));
            const auto part = [&](T key) {
                const std::uint64_t from_least =
                    static_cast<std::uint64_t>(key) -
                    static_cast<std::uint64_t>(std::numeric_limits<T>::min());
                std::uint64_t value = from_least >> options.begin_bit;
                const int width = end - options.begin_bit;
                if (width < 64) value &= (std::uint64_t{1} << width) - 1;
                return value;
            };
            return options.order.descending ? part(b) < part(a) : part(a) < part(b);
        }
    }
    return stands_before(a, b, options.order);
}

/// The positions of the items in stable order; before(i, j) tells of positions.
template <class Before>
std::vector<std::int64_t> stable_order(std::size_t n, const Before& before) {
    std::vector<std::int64_t> index(n);
    std::iota(index.begin(), index.end(), std::int64_t{0});
    std::stable_sort(index.begin(), index.end(), [&](std::int64_t a, std::int64_t b) {
        return before(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
    });
    return index;
}

template <sortable_item T>
std::vector<std::int64_t> stable_order(std::span<const T> keys, const sort_options& options) {
    return stable_order(keys.size(), [&](std::size_t a, std::size_t b) {
        return stands_before(keys[a], keys[b], options);
    });
}

/// items[index[0]], items[index[1]], ...
template <class T>
std::vector<T> taken_by(std::span<const T> items, std::span<const std::int64_t> index) {
    std::vector<T> taken;
    taken.reserve(index.size());
    for (const std::int64_t i : index) taken.push_back(items[static_cast<std::size_t>(i)]);
    return taken;
}

/// The first position at which two arrays differ in their bytes, or the size where none does.
template <class T>
std::size_t first_difference(std::span<const T> a, std::span<const T> b) {
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return i;
    }
    return a.size() == b.size() ? a.size() : std::min(a.size(), b.size());
}

}  // namespace lookback::test
