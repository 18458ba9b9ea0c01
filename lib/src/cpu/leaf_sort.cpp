#include "cpu/leaf_sort.hpp"

#include "cpu/packed_sort.hpp"

#include <algorithm>

namespace lookback::cpu {
namespace {

// Up to here an insertion sort needs no other arrangements.
constexpr std::uint32_t short_run = 24;

// Sorts rows by their numbers, stably.
template <class Index>
void insertion_sort(std::uint64_t* numbers, Index* rows, std::size_t count) {
    for (std::size_t i = 1; i < count; ++i) {
        const std::uint64_t number = numbers[i];
        const Index row = rows[i];
        std::size_t to = i;
        for (; to != 0 && numbers[to - 1] > number; --to) {
            numbers[to] = numbers[to - 1];
            rows[to] = rows[to - 1];
        }
        numbers[to] = number;
        rows[to] = row;
    }
}

}  // namespace

// Sorts the rows whose words [word] are in items_. row_of(position) must not depend on `out`.
template <class RowOf, class Index>
void leaf_sorter::sort_loaded(std::size_t word, std::size_t count, RowOf row_of, Index* out) {
    if (count <= short_run) {
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Index>(row_of(i));
        insertion_sort(items_, out, count);
        if (word + 1 < words_.size()) sort_ties(word + 1, items_, 0, count, out);
        return;
    }
    std::uint64_t least = items_[0];
    std::uint64_t most = items_[0];
    for (std::size_t i = 1; i < count; ++i) {
        least = std::min(least, items_[i]);
        most = std::max(most, items_[i]);
    }
    if (least == most) {
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Index>(row_of(i));
        if (word + 1 < words_.size()) sort_rows(word + 1, out, count);
        return;
    }
    const int unused = std::countl_zero(most - least);
    const int position_bits = static_cast<int>(std::bit_width(count - 1));
    const std::uint64_t positions = (std::uint64_t{1} << position_bits) - 1;
    for (std::size_t i = 0; i < count; ++i) {
        items_[i] = ((items_[i] - least) << unused & ~positions) | i;
    }
    // What the positions cover of the word is zero, unless the word is wide in these rows.
    const bool whole = words_[word].bits() - unused <= 64 - position_bits;
    const std::uint64_t* sorted = sort_packed(items_, spare_, count, position_bits);
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<Index>(row_of(static_cast<std::size_t>(sorted[i] & positions)));
    }
    if (!whole || word + 1 < words_.size()) {
        sort_ties(whole ? word + 1 : word, sorted, position_bits, count, out);
    }
}

// Notes the runs of numbers that are equal in their bits from `shift` on; the first is number
// `begin` of the rows.
void leaf_sorter::append_runs(const std::uint64_t* numbers, int shift, std::size_t begin,
                              std::size_t count, std::vector<run>& runs) {
    for (std::size_t i = 1; i < count; ++i) {
        if ((numbers[i] ^ numbers[i - 1]) >> shift != 0) [[likely]]
            continue;
        const std::size_t first = i - 1;
        while (i < count && (numbers[i] ^ numbers[first]) >> shift == 0) ++i;
        runs.push_back(
            {static_cast<std::uint32_t>(begin + first), static_cast<std::uint32_t>(i - first)});
    }
}

// Sorts each run of items with equal key bits by words[word] and those that follow.
template <class Index>
void leaf_sorter::sort_ties(std::size_t word, const std::uint64_t* items, int position_bits,
                            std::size_t count, Index* out) {
    std::vector<run> runs;
    append_runs(items, position_bits, 0, count, runs);
    if (!runs.empty()) sort_runs(word, runs, out);
}

// Short runs are loaded all at once: their cache misses then overlap.
template <class Index>
void leaf_sorter::sort_runs(std::size_t word, const std::vector<run>& runs, Index* out) {
    std::size_t loaded = 0;
    for (const run& tied : runs) {
        if (tied.count > short_run) continue;
        std::copy_n(out + tied.begin, tied.count, rows_ + loaded);
        loaded += tied.count;
    }
    words_[word].load_at(rows_, loaded, items_);
    std::vector<run> still_tied;
    std::uint64_t* numbers = items_;
    for (const run& tied : runs) {
        if (tied.count > short_run) continue;
        insertion_sort(numbers, out + tied.begin, tied.count);
        if (word + 1 < words_.size()) append_runs(numbers, 0, tied.begin, tied.count, still_tied);
        numbers += tied.count;
    }
    for (const run& tied : runs) {
        if (tied.count > short_run) sort_rows(word, out + tied.begin, tied.count);
    }
    if (!still_tied.empty()) sort_runs(word + 1, still_tied, out);
}

template <class Index>
void leaf_sorter::sort_range(std::size_t first, std::size_t count, Index* out) {
    if (count == 0) return;
    if (count == 1 || words_.empty()) {
        for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Index>(first + i);
        return;
    }
    words_[0].load(first, count, items_);
    sort_loaded(
        0, count, [first](std::size_t position) { return first + position; }, out);
}

const std::uint64_t* leaf_sorter::sort_positions(int resolved, std::size_t count,
                                                 std::uint32_t* order) {
    const std::uint64_t positions = position_mask(count);
    const int position_bits = static_cast<int>(std::bit_width(count - 1));
    for (std::size_t i = 0; i < count; ++i) items_[i] = (items_[i] << resolved & ~positions) | i;
    const std::uint64_t* sorted = sort_packed(items_, spare_, count, position_bits);
    if (words_[0].bits() - resolved <= 64 - position_bits) return sorted;
    // The lowest bits of the words were cut off; without ties they do not matter.
    bool tied = false;
    for (std::size_t i = 1; i < count; ++i) tied |= (sorted[i] ^ sorted[i - 1]) <= positions;
    if (!tied) return sorted;
    for (std::size_t i = 0; i < count; ++i) {
        order[i] = static_cast<std::uint32_t>(sorted[i] & positions);
    }
    sort_ties(0, sorted, position_bits, count, order);
    std::copy_n(order, count, rows_);
    return rows_;
}

template <class Index>
void leaf_sorter::sort_rows(std::size_t word, Index* rows, std::size_t count) {
    words_[word].load_at(rows, count, items_);
    std::copy_n(rows, count, rows_);
    sort_loaded(
        word, count, [this](std::size_t position) { return rows_[position]; }, rows);
}

template <class Index>
void leaf_sorter::sort_items(std::size_t word, bool whole, int row_bits, std::size_t count,
                             Index* out) {
    const std::uint64_t rows = (std::uint64_t{1} << row_bits) - 1;
    const std::uint64_t* sorted = sort_packed(items_, spare_, count, row_bits);
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<Index>(sorted[i] & rows);
    if (!whole || word + 1 < words_.size()) {
        sort_ties(whole ? word + 1 : word, sorted, row_bits, count, out);
    }
}

template void leaf_sorter::sort_range(std::size_t, std::size_t, std::uint32_t*);
template void leaf_sorter::sort_range(std::size_t, std::size_t, std::int64_t*);
template void leaf_sorter::sort_rows(std::size_t, std::uint32_t*, std::size_t);
template void leaf_sorter::sort_rows(std::size_t, std::int64_t*, std::size_t);
template void leaf_sorter::sort_items(std::size_t, bool, int, std::size_t, std::uint32_t*);
template void leaf_sorter::sort_items(std::size_t, bool, int, std::size_t, std::int64_t*);

}  // namespace lookback::cpu
