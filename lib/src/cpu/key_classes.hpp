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
#include <limits>
#include <span>
#include <vector>

namespace lookback::cpu {

/// How a cell is cut further: sub-cell (above >> shift) & mask, counted from `offset` over all
/// cells.
struct cell_split {
    std::uint32_t offset;
    std::uint16_t mask;
    std::uint16_t shift;
};

/// Cells are equal ranges of numbers from `base`. A bucket is one cell; or, for uneven keys, cells
/// that hold much of the sample are cut into sub-cells and neighbours are joined to even buckets.
template <class Bits>
struct key_classes {
    using number = ordered_number<Bits>;

    number base = 0;                   ///< all lower numbers are in cell 0
    Bits range = 0;                    ///< all greater distances from the base count as this one
    int shift = 0;                     ///< from a distance to its cell
    Bits last_cell = 0;                ///< that of `range`
    std::vector<cell_split> splits;    ///< by cell; empty where cells are buckets
    std::vector<std::uint16_t> table;  ///< bucket by sub-cell
    std::vector<number> lowest;        ///< number by bucket; the first one reaches further down

    std::size_t bucket_count() const { return lowest.size(); }
    Bits above(number value) const {
        return std::min(range, static_cast<Bits>(static_cast<Bits>(std::max(value, base)) -
                                                 static_cast<Bits>(base)));
    }
    std::size_t sub_cell(Bits distance) const {
        const cell_split& split = splits[static_cast<std::size_t>(distance >> shift)];
        return split.offset + (static_cast<std::size_t>(distance >> split.shift) & split.mask);
    }
    std::size_t bucket(number value) const {
        const Bits distance = above(value);
        return splits.empty() ? static_cast<std::size_t>(distance >> shift)
                              : table[sub_cell(distance)];
    }
    /// Cells behind the last one, each a bucket of its own behind the last one.
    void append_cells(std::size_t count) {
        if (splits.empty()) return;
        const std::size_t buckets = bucket_count();
        for (std::size_t i = 0; i < count; ++i) {
            splits.push_back({static_cast<std::uint32_t>(table.size()), 0, 0});
            table.push_back(static_cast<std::uint16_t>(buckets + i));
        }
    }
};

namespace detail {

/// Cuts the cells that hold more than a bucket's share, finely enough that keys in a sixteenth of
/// a cell still spread over the buckets that they should have.
template <class Bits>
void split_cells(key_classes<Bits>& classes, std::span<const ordered_number<Bits>> sample,
                 std::size_t share) {
    constexpr int spare_bits = 4;
    constexpr int most_bits = 12;
    std::vector<std::uint32_t> count(static_cast<std::size_t>(classes.last_cell) + 1, 0);
    for (const auto value : sample) {
        ++count[static_cast<std::size_t>(classes.above(value) >> classes.shift)];
    }
    std::uint32_t offset = 0;
    for (const std::uint32_t held : count) {
        int bits = 0;
        if (held > share + share / 2) {
            bits = static_cast<int>(std::bit_width(held / share)) + spare_bits;
            bits = std::min({bits, most_bits, classes.shift});
        }
        const std::uint32_t parts = std::uint32_t{1} << bits;
        classes.splits.push_back({offset, static_cast<std::uint16_t>(parts - 1),
                                  static_cast<std::uint16_t>(classes.shift - bits)});
        offset += parts;
    }
}

/// Joins neighbouring sub-cells until each bucket has its share of the sample.
template <class Bits>
void join_cells(key_classes<Bits>& classes, std::span<const ordered_number<Bits>> sample,
                std::size_t share) {
    const cell_split& last = classes.splits.back();
    std::vector<std::uint32_t> count(last.offset + last.mask + 1U, 0);
    for (const auto value : sample) ++count[classes.sub_cell(classes.above(value))];
    // Numbers above the sample are there too, so no bucket may begin behind it.
    const std::size_t top = classes.sub_cell(classes.range);
    std::size_t filled = 0;
    for (std::size_t cell = 0; cell < classes.splits.size(); ++cell) {
        const cell_split& split = classes.splits[cell];
        const auto begin = static_cast<Bits>(static_cast<Bits>(cell) << classes.shift);
        for (std::size_t sub = 0; sub <= split.mask; ++sub) {
            const std::uint32_t held = count[split.offset + sub];
            const bool full = filled >= share || (filled != 0 && filled + held > share + share / 2);
            if (classes.lowest.empty() || (full && split.offset + sub <= top)) {
                classes.lowest.push_back(static_cast<ordered_number<Bits>>(
                    static_cast<Bits>(classes.base) + begin +
                    static_cast<Bits>(static_cast<Bits>(sub) << split.shift)));
                filled = 0;
            }
            classes.table.push_back(static_cast<std::uint16_t>(classes.lowest.size() - 1));
            filled += held;
        }
    }
}

}  // namespace detail

/// About `buckets` buckets (a power of two) for keys like the sorted sample, which is not empty.
template <class Bits>
key_classes<Bits> plan_classes(std::span<const ordered_number<Bits>> sample, std::size_t buckets) {
    // 2^13 cells of 8 bytes stay in the L2 cache, those that are hit often in the L1 cache.
    constexpr int split_table_bits = 13;
    key_classes<Bits> classes;
    classes.base = sample.front();
    classes.range =
        static_cast<Bits>(static_cast<Bits>(sample.back()) - static_cast<Bits>(sample.front()));
    if (classes.range == 0) {
        // One value fills the sample: it gets a bucket of its own, whatever else there is.
        using limits = std::numeric_limits<ordered_number<Bits>>;
        const bool lower = classes.base != limits::min();
        const bool higher = classes.base != limits::max();
        classes.range = static_cast<Bits>((lower ? 1 : 0) + (higher ? 1 : 0));
        if (lower) --classes.base;
    }
    const int range_bits = static_cast<int>(std::bit_width(classes.range));
    const auto use_cells = [&](int bits) {
        classes.shift = std::max(0, range_bits - bits);
        classes.last_cell = static_cast<Bits>(classes.range >> classes.shift);
    };

    use_cells(static_cast<int>(std::bit_width(buckets)) - 1);
    const std::size_t cells = static_cast<std::size_t>(classes.last_cell) + 1;
    std::vector<std::uint32_t> count(cells, 0);
    for (const auto value : sample) {
        ++count[static_cast<std::size_t>(classes.above(value) >> classes.shift)];
    }
    // Cells of equal shares differ by chance: five deviations of a Poisson count.
    const double mean = static_cast<double>(sample.size()) / static_cast<double>(cells);
    const double hot = mean + 5 * std::sqrt(mean) + 1;
    if (*std::max_element(count.begin(), count.end()) <= hot || classes.shift == 0) {
        for (std::size_t cell = 0; cell < cells; ++cell) {
            classes.lowest.push_back(static_cast<ordered_number<Bits>>(
                static_cast<Bits>(classes.base) +
                static_cast<Bits>(static_cast<Bits>(cell) << classes.shift)));
        }
        return classes;
    }
    const std::size_t share = std::max<std::size_t>(1, sample.size() / buckets);
    use_cells(split_table_bits);
    detail::split_cells(classes, sample, share);
    detail::join_cells(classes, sample, share);
    return classes;
}

}  // namespace lookback::cpu
