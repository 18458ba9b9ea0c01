// CPU backend: which bucket of the first pass a key belongs to, planned from a sorted sample.
// Invariant: buckets are ranges of numbers in rising order and their union is everything, so a
// misleading sample makes a bucket large, never wrong.
#pragma once

#include "cpu/key_mapping.hpp"
#include "cpu/key_segments.hpp"

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
/// are segments that are cut or joined to buckets; or, where that is not enough, cells are narrow
/// and neighbours are joined to even buckets; where single cells still hold much of the sample,
/// these are cut into sub-cells before.
template <class Bits>
struct key_classes {
    using number = ordered_number<Bits>;

    number base = 0;                   ///< all lower numbers are in cell 0
    Bits gap_begin = 0;                ///< where, by distance from the base, a gap is left out
    Bits gap = 0;                      ///< so many numbers, which count as the one before them
    Bits range = 0;                    ///< all greater distances count as this one
    int shift = 0;                     ///< from a distance to its cell
    Bits last_cell = 0;                ///< that of `range`
    key_segments segments;             ///< used in place of cells, or not
    std::vector<cell_split> splits;    ///< by cell; empty where no cell is cut
    std::vector<std::uint16_t> table;  ///< bucket by sub-cell; empty where cells are buckets
    std::vector<number> lowest;        ///< number by bucket; the first one reaches further down

    std::size_t bucket_count() const { return lowest.size(); }
    /// Distance from the base, without the gap.
    Bits above(number value) const {
        const auto distance =
            static_cast<Bits>(static_cast<Bits>(std::max(value, base)) - static_cast<Bits>(base));
        return std::min(range, without_gap(distance, gap_begin, gap));
    }
    static Bits without_gap(Bits distance, Bits gap_begin, Bits gap) {
        const auto behind = static_cast<Bits>(std::max(distance, gap_begin) - gap_begin);
        return static_cast<Bits>(distance - std::min(behind, gap));
    }
    /// The lowest number at such a distance.
    number at(Bits distance) const {
        return static_cast<number>(static_cast<Bits>(base) + distance +
                                   (distance > gap_begin ? gap : Bits{0}));
    }
    cell_split split_of(std::size_t cell) const {
        return splits.empty() ? cell_split{static_cast<std::uint32_t>(cell), 0,
                                           static_cast<std::uint16_t>(shift)}
                              : splits[cell];
    }
    std::size_t sub_cell(Bits distance) const {
        const cell_split split = split_of(static_cast<std::size_t>(distance >> shift));
        return split.offset + (static_cast<std::size_t>(distance >> split.shift) & split.mask);
    }
    std::size_t bucket(number value) const {
        if (segments.used) return segments.bucket(place(above(value)));
        const std::size_t cell = sub_cell(above(value));
        return table.empty() ? cell : table[cell];
    }
    std::uint32_t place(Bits distance) const {
        return static_cast<std::uint32_t>(distance >> segments.shift);
    }
    /// Cells behind the last one, each a bucket of its own behind the last one.
    void append_cells(std::size_t count) {
        if (table.empty()) return;
        const std::size_t buckets = bucket_count();
        for (std::size_t i = 0; i < count; ++i) {
            if (!splits.empty()) {
                splits.push_back({static_cast<std::uint32_t>(table.size()), 0, 0});
            }
            table.push_back(static_cast<std::uint16_t>(buckets + i));
        }
    }
};

namespace detail {

/// Base, range and gap. A gap is left out where it is most of the range: keys of both signs leave
/// most exponents unused, and cells would be wasted on them.
template <class Bits>
void frame(key_classes<Bits>& classes, std::span<const ordered_number<Bits>> sample) {
    const auto distance = [](ordered_number<Bits> from, ordered_number<Bits> to) {
        return static_cast<Bits>(static_cast<Bits>(to) - static_cast<Bits>(from));
    };
    classes.base = sample.front();
    classes.range = distance(sample.front(), sample.back());
    if (classes.range == 0) {
        // One value fills the sample: it gets a bucket of its own, whatever else there is.
        using limits = std::numeric_limits<ordered_number<Bits>>;
        const bool lower = classes.base != limits::min();
        const bool higher = classes.base != limits::max();
        classes.range = static_cast<Bits>(Bits{lower} + Bits{higher});
        if (lower) --classes.base;
        return;
    }
    std::size_t before = 0;
    for (std::size_t i = 0; i + 1 < sample.size(); ++i) {
        const Bits step = distance(sample[i], sample[i + 1]);
        if (step > distance(sample[before], sample[before + 1])) before = i;
    }
    const Bits step = distance(sample[before], sample[before + 1]);
    if (static_cast<Bits>(classes.range - step) > classes.range / 4) return;
    classes.gap_begin = distance(classes.base, sample[before]);
    classes.gap = static_cast<Bits>(step - 1);
    classes.range = static_cast<Bits>(classes.range - classes.gap);
}

/// How many numbers of the sample each cell holds.
template <class Bits>
std::vector<std::uint32_t> count_cells(const key_classes<Bits>& classes,
                                       std::span<const ordered_number<Bits>> sample) {
    std::vector<std::uint32_t> count(static_cast<std::size_t>(classes.last_cell) + 1, 0);
    for (const auto value : sample) {
        ++count[static_cast<std::size_t>(classes.above(value) >> classes.shift)];
    }
    return count;
}

/// Cuts the cells that hold more than a bucket's share, finely enough that keys in a sixteenth of
/// a cell still spread over the buckets that they should have.
template <class Bits>
void split_cells(key_classes<Bits>& classes, std::span<const ordered_number<Bits>> sample,
                 std::size_t share) {
    constexpr int spare_bits = 4;
    constexpr int most_bits = 12;
    std::uint32_t offset = 0;
    for (const std::uint32_t held : count_cells(classes, sample)) {
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
    const auto cells = static_cast<std::size_t>(classes.last_cell) + 1;
    const cell_split last = classes.split_of(cells - 1);
    std::vector<std::uint32_t> count(last.offset + last.mask + 1U, 0);
    for (const auto value : sample) ++count[classes.sub_cell(classes.above(value))];
    // Numbers above the sample are there too, so no bucket may begin behind it.
    const std::size_t top = classes.sub_cell(classes.range);
    std::size_t filled = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
        const cell_split split = classes.split_of(cell);
        const auto begin = static_cast<Bits>(static_cast<Bits>(cell) << classes.shift);
        for (std::size_t sub = 0; sub <= split.mask; ++sub) {
            const std::uint32_t held = count[split.offset + sub];
            const bool full = filled >= share || (filled != 0 && filled + held > share + share / 2);
            if (classes.lowest.empty() || (full && split.offset + sub <= top)) {
                classes.lowest.push_back(classes.at(static_cast<Bits>(
                    begin + static_cast<Bits>(static_cast<Bits>(sub) << split.shift))));
                filled = 0;
            }
            classes.table.push_back(static_cast<std::uint16_t>(classes.lowest.size() - 1));
            filled += held;
        }
    }
}

/// Cuts and joins segments to buckets; says whether these are even enough.
template <class Bits>
bool use_segments(key_classes<Bits>& classes, std::span<const ordered_number<Bits>> sample,
                  std::size_t share) {
    key_segments& segments = classes.segments;
    const int range_bits = static_cast<int>(std::bit_width(classes.range));
    segments.shift = range_bits - key_segments::count_bits - key_segments::place_bits;
    if (segments.shift < 0) return false;
    key_segments::counts held{};
    for (const auto value : sample) {
        ++held[key_segments::segment(classes.place(classes.above(value)))];
    }
    key_segments::counts parts{};
    for (std::size_t s = 0; s < parts.size(); ++s) {
        parts[s] = static_cast<std::uint32_t>((held[s] + share / 2) / share);
    }
    // The last one may reach far beyond the range; buckets there are never met.
    const std::uint32_t end = classes.place(classes.range);
    auto& last = parts[key_segments::segment(end)];
    constexpr std::uint64_t whole = std::uint64_t{1} << key_segments::place_bits;
    last = static_cast<std::uint32_t>(std::min(last * whole / (end % whole + 1), whole / 2));
    auto begins = segments.cut(parts, held, share);
    std::vector<std::uint32_t> count(begins.size(), 0);
    for (const auto value : sample) {
        ++count[segments.bucket(classes.place(classes.above(value)))];
    }
    // A bucket may hold twice its share; by chance, a sample of it five deviations more.
    const double most = 2 * static_cast<double>(share);
    if (*std::max_element(count.begin(), count.end()) > most + 5 * std::sqrt(most)) return false;
    // Numbers above the sample are in the bucket of its last one.
    begins.resize(segments.bucket(end) + 1);
    for (const std::uint32_t begin : begins) {
        classes.lowest.push_back(classes.at(static_cast<Bits>(begin) << segments.shift));
    }
    segments.used = true;
    return true;
}

}  // namespace detail

/// About `buckets` buckets (a power of two) for keys like the sorted sample, which is not empty.
template <class Bits>
key_classes<Bits> plan_classes(std::span<const ordered_number<Bits>> sample, std::size_t buckets) {
    // 2^16 cells of 2 bytes need one look at a table: 1.2 ns a key less than two. What keys hit
    // often stays in the L1 cache. 2^13 cells of 8 bytes stay in the L2 cache.
    constexpr int direct_table_bits = 16;
    constexpr std::size_t most_direct_cells = 65000;  // 16 bits name them and a few behind
    constexpr int split_table_bits = 13;
    key_classes<Bits> classes;
    detail::frame(classes, sample);
    const int range_bits = static_cast<int>(std::bit_width(classes.range));
    const auto use_cells = [&](int bits) {
        classes.shift = std::max(0, range_bits - bits);
        classes.last_cell = static_cast<Bits>(classes.range >> classes.shift);
    };

    use_cells(static_cast<int>(std::bit_width(buckets)) - 1);
    const std::size_t cells = static_cast<std::size_t>(classes.last_cell) + 1;
    auto count = detail::count_cells(classes, sample);
    // Cells of equal shares differ by chance: five deviations of a Poisson count.
    const double mean = static_cast<double>(sample.size()) / static_cast<double>(cells);
    const double hot = mean + 5 * std::sqrt(mean) + 1;
    if (*std::max_element(count.begin(), count.end()) <= hot || classes.shift == 0) {
        for (std::size_t cell = 0; cell < cells; ++cell) {
            classes.lowest.push_back(
                classes.at(static_cast<Bits>(static_cast<Bits>(cell) << classes.shift)));
        }
        return classes;
    }
    const std::size_t share = std::max<std::size_t>(1, sample.size() / buckets);
    if (detail::use_segments(classes, sample, share)) return classes;
    for (const int bits : {direct_table_bits - 3, direct_table_bits}) {
        use_cells(bits);
        if (classes.last_cell >= most_direct_cells) use_cells(bits - 1);
        count = detail::count_cells(classes, sample);
        if (*std::max_element(count.begin(), count.end()) <= 2 * share || classes.shift == 0) {
            detail::join_cells(classes, sample, share);
            return classes;
        }
    }
    use_cells(split_table_bits);
    detail::split_cells(classes, sample, share);
    detail::join_cells(classes, sample, share);
    return classes;
}

}  // namespace lookback::cpu
