#include "cpu/leaf_sort.hpp"

#include "cpu/packed_sort.hpp"

#include <algorithm>
#include <vector>

namespace lookback::cpu {

// Sorts the rows whose words [word] are in items_. row_of(position) must not depend on `out`.
template <class RowOf, class Index>
void leaf_sorter::sort_loaded(std::size_t word, std::size_t count, RowOf row_of, Index* out) {
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

// Sorts each run of items with equal key bits by words[word] and those that follow.
template <class Index>
void leaf_sorter::sort_ties(std::size_t word, const std::uint64_t* items, int position_bits,
                            std::size_t count, Index* out) {
    // The runs are found first: sorting one of them reuses the arrays that hold the items.
    struct run {
        std::uint32_t begin;
        std::uint32_t count;
    };
    std::vector<run> runs;
    for (std::size_t i = 1; i < count; ++i) {
        if ((items[i] ^ items[i - 1]) >> position_bits != 0) [[likely]]
            continue;
        std::size_t end = i + 1;
        while (end < count && (items[end] ^ items[i]) >> position_bits == 0) ++end;
        runs.push_back(
            {static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(end - i + 1)});
        i = end;
    }
    for (const run& tied : runs) sort_rows(word, out + tied.begin, tied.count);
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
