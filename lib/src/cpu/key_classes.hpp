// CPU backend: which bucket of the first pass a key belongs to, planned from a sorted sample.
// Invariant: buckets are ranges of numbers in rising order and their union is everything, so a
// misleading sample makes a bucket large, never wrong.
#pragma once

#include "cpu/key_mapping.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookback::cpu {

/// Cells are equal ranges of numbers from `base`; a bucket is one cell, or several by the table.
template <class Bits>
struct key_classes {
    using number = ordered_number<Bits>;

    number base = 0;
    int shift = 0;
    Bits last_cell = 0;                ///< all greater numbers are there; all lower ones in cell 0
    std::vector<std::uint16_t> table;  ///< bucket by cell; empty where they are the same
    std::vector<std::size_t> first_cell;  ///< by bucket, and one past the last

    std::size_t bucket_count() const { return first_cell.size() - 1; }
    Bits cell(number value) const {
        const Bits above =
            static_cast<Bits>(static_cast<Bits>(std::max(value, base)) - static_cast<Bits>(base));
        return std::min(static_cast<Bits>(above >> shift), last_cell);
    }
    std::size_t bucket(number value) const {
        const std::size_t index = cell(value);
        return table.empty() ? index : table[index];
    }
    /// The lowest number of a bucket that is not the first.
    number lowest(std::size_t bucket) const {
        return static_cast<number>(
            static_cast<Bits>(base) +
            static_cast<Bits>(static_cast<Bits>(first_cell[bucket]) << shift));
    }
};

namespace detail {

template <class Bits>
std::vector<std::uint32_t> sample_cells(const key_classes<Bits>& classes,
                                        std::span<const ordered_number<Bits>> sample) {
    std::vector<std::uint32_t> count(static_cast<std::size_t>(classes.last_cell) + 1, 0);
    for (const auto value : sample) ++count[classes.cell(value)];
    return count;
}

/// Joins neighbouring cells until each bucket has its share of the sample.
template <class Bits>
void join_cells(key_classes<Bits>& classes, const std::vector<std::uint32_t>& count,
                std::size_t share) {
    classes.table.assign(count.size(), 0);
    classes.first_cell.assign(1, 0);
    std::size_t filled = 0;
    for (std::size_t cell = 0; cell < count.size(); ++cell) {
        const bool full = filled != 0 && filled + count[cell] > share + share / 2;
        if (full || filled >= share) {
            classes.first_cell.push_back(cell);
            filled = 0;
        }
        classes.table[cell] = static_cast<std::uint16_t>(classes.first_cell.size() - 1);
        filled += count[cell];
    }
    classes.first_cell.push_back(count.size());
}

}  // namespace detail

/// About `buckets` buckets (a power of two) for keys like the sorted sample, which is not empty.
template <class Bits>
key_classes<Bits> plan_classes(std::span<const ordered_number<Bits>> sample, std::size_t buckets) {
    // A table of 2^13 cells (16 KiB) leaves room in the L1 cache for the lines of the partition;
    // one of 2^15 splits binades of floats that would make hot buckets.
    constexpr int table_bits[] = {13, 15};
    key_classes<Bits> classes;
    classes.base = sample.front();
    const Bits range =
        static_cast<Bits>(static_cast<Bits>(sample.back()) - static_cast<Bits>(sample.front()));
    const int range_bits = static_cast<int>(std::bit_width(range));
    const auto use_cells = [&](int bits) {
        classes.shift = std::max(0, range_bits - bits);
        classes.last_cell = static_cast<Bits>(range >> classes.shift);
    };
    const std::size_t share = std::max<std::size_t>(1, sample.size() / buckets);

    use_cells(static_cast<int>(std::bit_width(buckets)) - 1);
    auto count = detail::sample_cells(classes, sample);
    // Cells of equal shares differ by chance: five deviations of a Poisson count.
    const auto hot = [&](std::size_t cells) {
        const double mean = static_cast<double>(sample.size()) / static_cast<double>(cells);
        return mean + 5 * std::sqrt(mean) + 1;
    };
    if (*std::max_element(count.begin(), count.end()) <= hot(count.size()) || classes.shift == 0) {
        for (std::size_t cell = 0; cell <= count.size(); ++cell) classes.first_cell.push_back(cell);
        return classes;
    }
    for (const int bits : table_bits) {
        use_cells(bits);
        count = detail::sample_cells(classes, sample);
        if (*std::max_element(count.begin(), count.end()) <= 4 * share || classes.shift == 0) break;
    }
    detail::join_cells(classes, count, share);
    return classes;
}

}  // namespace lookback::cpu
