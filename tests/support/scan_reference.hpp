// Tests: what a scan must give, by std::inclusive_scan and std::exclusive_scan, and items for which
// every order of combination gives the same bits.
#pragma once

#include "support/generators.hpp"

#include <lookback/scan.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace lookback::test {

inline constexpr scan_operator all_scan_operators[] = {
    scan_operator::plus,    scan_operator::multiplies, scan_operator::minimum,
    scan_operator::maximum, scan_operator::bit_and,    scan_operator::bit_or,
    scan_operator::bit_xor};

inline bool is_of_bits(scan_operator op) {
    return op >= scan_operator::bit_and;
}

template <class T>
T apply(scan_operator op, T earlier, T later) {
    if constexpr (std::is_floating_point_v<T>) {
        if (op == scan_operator::plus) return earlier + later;
        if (op == scan_operator::multiplies) return earlier * later;
        if (std::isnan(earlier)) return earlier;
        if (std::isnan(later)) return later;
    } else {
        const auto a = static_cast<std::uint64_t>(earlier);
        const auto b = static_cast<std::uint64_t>(later);
        if (op == scan_operator::plus) return static_cast<T>(a + b);
        if (op == scan_operator::multiplies) return static_cast<T>(a * b);
        if (op == scan_operator::bit_and) return static_cast<T>(a & b);
        if (op == scan_operator::bit_or) return static_cast<T>(a | b);
        if (op == scan_operator::bit_xor) return static_cast<T>(a ^ b);
    }
    if (op == scan_operator::minimum) return later < earlier ? later : earlier;
    return earlier < later ? later : earlier;
}

/// What an exclusive scan without init starts with.
template <class T>
T start_of_exclusive(scan_operator op) {
    using limits = std::numeric_limits<T>;
    const bool real = std::is_floating_point_v<T>;
    if (op == scan_operator::multiplies) return T(1);
    if (op == scan_operator::minimum) return real ? limits::infinity() : limits::max();
    if (op == scan_operator::maximum) return real ? -limits::infinity() : limits::lowest();
    if constexpr (std::is_integral_v<T>) {
        if (op == scan_operator::bit_and) return static_cast<T>(~T(0));
    }
    return T(0);
}

template <class T>
std::vector<T> reference_scan(std::span<const T> in, bool exclusive,
                              const scan_options<T>& options) {
    const auto op = [&](T a, T b) { return apply(options.op, a, b); };
    std::vector<T> out(in.size());
    if (exclusive) {
        const T start = options.init.value_or(start_of_exclusive<T>(options.op));
        std::exclusive_scan(in.begin(), in.end(), out.begin(), start, op);
    } else if (options.init) {
        std::inclusive_scan(in.begin(), in.end(), out.begin(), op, *options.init);
    } else {
        std::inclusive_scan(in.begin(), in.end(), out.begin(), op);
    }
    return out;
}

/// Items that keep results busy (products that do not vanish, conjunctions that do not empty at
/// once). Reals: sums and products without rounding; for min and max zeros of both signs and, now
/// and then, NaNs with a payload.
template <class T>
std::vector<T> scan_items(scan_operator op, std::size_t n, std::uint64_t seed) {
    random_bits random(seed);
    std::vector<T> items(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = random();
        if constexpr (std::is_floating_point_v<T>) {
            if (op == scan_operator::plus) {
                items[i] = static_cast<T>(static_cast<int>(bits % 17) - 8);
            } else if (op == scan_operator::multiplies) {
                // 64 factors and then their inverses, so that no order of combination overflows.
                const T size = bits % 3 == 0 ? T(1) : bits % 3 == 1 ? T(2) : T(0.5);
                const T inverse = i % 128 < 64 ? size : T(1) / std::abs(items[i - 64]);
                items[i] = (bits >> 8) % 2 == 0 ? inverse : -inverse;
            } else if (bits % (n / 2 + 1) == 0) {
                items[i] = std::copysign(std::numeric_limits<T>::quiet_NaN(), T(bits % 2) - T(0.5));
            } else {
                const T sign = op == scan_operator::minimum ? T(1) : T(-1);
                items[i] = sign * static_cast<T>((bits >> 8) % 4) / T(static_cast<int>(i % 50) + 1);
                if ((bits >> 16) % 2 == 0 && items[i] == 0) items[i] = -items[i];
            }
        } else {
            const auto sparse = std::uint64_t{1} << bits % 64;
            const bool often = (bits >> 8) % 16 != 0;
            switch (op) {
                case scan_operator::multiplies:
                    items[i] = static_cast<T>(bits | 1);
                    break;
                case scan_operator::bit_and:
                    items[i] = static_cast<T>(often ? ~0ULL : ~sparse);
                    break;
                case scan_operator::bit_or:
                    items[i] = static_cast<T>(often ? 0 : sparse);
                    break;
                default:
                    items[i] = static_cast<T>(bits);
            }
        }
    }
    return items;
}

}  // namespace lookback::test
