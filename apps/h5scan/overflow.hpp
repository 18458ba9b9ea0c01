// h5scan: finds integer overflow in scans and reductions, exactly.
// Invariant: nothing is reported for a result that its type holds. Sums are checked from the
// results alone: neighbours that wrapped still differ by exactly the item between them.
#pragma once

#include "common/parallel.hpp"

#include <lookback/scan.hpp>
#include <lookback/types.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

namespace lookback::apps::h5scan {

constexpr bool can_overflow(scan_operator op) {
    return op == scan_operator::plus || op == scan_operator::multiplies;
}

/// A scan that has been done: `in` is needed for products only and may be null for sums.
template <std::integral T>
struct scanned {
    scan_operator op;
    bool exclusive;
    std::optional<T> init;
    const T* in;
    std::span<const T> out;
    std::span<const std::int64_t> offsets;  ///< valid; empty = one segment
};

/// Whether item `item` (not the first of its segment) does not fit: before op step.
template <std::integral T>
bool overflows(const scanned<T>& scan, std::uint64_t item) {
    using wide = std::make_unsigned_t<T>;
    const T before = scan.out[item - 1];
    T ignored;
    if (scan.op == scan_operator::multiplies) {
        return __builtin_mul_overflow(before, scan.in[scan.exclusive ? item - 1 : item], &ignored);
    }
    const auto step = static_cast<T>(
        static_cast<wide>(static_cast<wide>(scan.out[item]) - static_cast<wide>(before)));
    return __builtin_add_overflow(before, step, &ignored);
}

/// The same for the first item of a segment, which follows init alone.
template <std::integral T>
bool head_overflows(const scanned<T>& scan, std::uint64_t item) {
    using wide = std::make_unsigned_t<T>;
    if (scan.exclusive || !scan.init) return false;
    T ignored;
    if (scan.op == scan_operator::multiplies) {
        return __builtin_mul_overflow(*scan.init, scan.in[item], &ignored);
    }
    const auto step = static_cast<T>(
        static_cast<wide>(static_cast<wide>(scan.out[item]) - static_cast<wide>(*scan.init)));
    return __builtin_add_overflow(*scan.init, step, &ignored);
}

/// The first item in [begin, end) whose result does not fit, or `end`.
template <std::integral T>
std::uint64_t first_overflow_in(const scanned<T>& scan, std::uint64_t begin, std::uint64_t end) {
    auto next = std::lower_bound(scan.offsets.begin(), scan.offsets.end(),
                                 static_cast<std::int64_t>(begin));
    std::uint64_t item = begin;
    if (scan.offsets.empty() && begin == 0 && begin < end) {
        if (head_overflows(scan, 0)) return 0;
        item = 1;
    }
    while (item < end) {
        const std::uint64_t head =
            next == scan.offsets.end() ? end : std::min(end, static_cast<std::uint64_t>(*next));
        for (; item < head; ++item) {
            if (overflows(scan, item)) return item;
        }
        if (item == end) break;
        if (head_overflows(scan, item)) return item;
        ++item;
        while (next != scan.offsets.end() && static_cast<std::uint64_t>(*next) < item) ++next;
    }
    return end;
}

/// The first item whose result does not fit its type, or none.
template <std::integral T>
std::optional<std::uint64_t> first_overflow(const scanned<T>& scan, int threads) {
    const std::uint64_t n = scan.out.size();
    if (!can_overflow(scan.op)) return std::nullopt;
    std::mutex mutex;
    std::uint64_t first = n;
    for_each_part(n, threads, 1 << 16, [&](std::uint64_t begin, std::uint64_t end) {
        const std::uint64_t found = first_overflow_in(scan, begin, end);
        if (found == end) return;
        const std::scoped_lock lock(mutex);
        first = std::min(first, found);
    });
    return first == n ? std::nullopt : std::optional(first);
}

/// The first segment whose reduction does not fit its type, or none. Sums are taken in 128 bits, so
/// only the result counts; in a product the first step that does not fit counts.
template <std::integral T>
std::optional<std::uint64_t> first_overflowing_segment(scan_operator op, std::span<const T> in,
                                                       std::span<const std::int64_t> offsets,
                                                       std::optional<T> init, int threads) {
    if (!can_overflow(op)) return std::nullopt;
    __extension__ using wide = __int128;
    const std::uint64_t segments = offsets.size() - 1;
    std::mutex mutex;
    std::uint64_t first = segments;
    const auto fits = [&](std::uint64_t segment) {
        const auto items =
            in.subspan(static_cast<std::size_t>(offsets[segment]),
                       static_cast<std::size_t>(offsets[segment + 1] - offsets[segment]));
        if (op == scan_operator::plus) {
            wide sum = init.value_or(T(0));
            for (const T item : items) sum += item;
            return sum == static_cast<wide>(static_cast<T>(sum));
        }
        T product = init.value_or(T(1));
        return std::none_of(items.begin(), items.end(), [&](T item) {
            return __builtin_mul_overflow(product, item, &product);
        });
    };
    for_each_part(segments, threads, 256, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t segment = begin; segment < end; ++segment) {
            if (fits(segment)) continue;
            const std::scoped_lock lock(mutex);
            first = std::min(first, segment);
            return;
        }
    });
    return first == segments ? std::nullopt : std::optional(first);
}

}  // namespace lookback::apps::h5scan
