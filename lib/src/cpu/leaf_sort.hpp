// CPU backend: the stable order of a range of rows that fits the caches, on one thread.
// Invariant: rows equal in all words stay in ascending order.
#pragma once

#include "cpu/key_words.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookback::cpu {

/// Most rows of a leaf: its three arrays of 8 bytes a row stay in a second-level cache of 2 MiB.
inline constexpr std::size_t leaf_rows = std::size_t{1} << 16;

/// Bits of the digit that cuts `rows` rows into buckets of about 2^14: a leaf's arrays then stay in
/// the second-level cache and its digits in the first.
inline int bucket_bits(std::size_t rows) {
    constexpr int leaf_bits = 14;
    const int wanted = static_cast<int>(std::bit_width(rows)) - leaf_bits;
    return std::clamp(wanted, 4, 11);
}

/// One worker's scratch and the sorts that use it. Index is uint32 or int64.
class leaf_sorter {
public:
    /// Numbers of scratch for leaves of up to `rows` rows.
    static constexpr std::size_t scratch_items(std::size_t rows) { return 3 * rows; }

    leaf_sorter(std::span<const key_word> words, std::uint64_t* scratch, std::size_t rows)
        : words_(words), items_(scratch), spare_(scratch + rows), rows_(scratch + 2 * rows) {}

    /// out = the order of rows [first, first + count) by all words.
    template <class Index>
    void sort_range(std::size_t first, std::size_t count, Index* out);

    /// Sorts rows[0 .. count), ascending and equal before word `word`, in place by that and the
    /// words that follow.
    template <class Index>
    void sort_rows(std::size_t word, Index* rows, std::size_t count);

    /// Where the caller collects items for sort_items().
    std::uint64_t* items() const { return items_; }

    /// Sorts `count` collected items: `row_bits` bits of row number and above them key bits of
    /// words[word], all that differ there; `whole` where none was cut off.
    template <class Index>
    void sort_items(std::size_t word, bool whole, int row_bits, std::size_t count, Index* out);

    /// Sorts the rows [0, count) whose words [0] the caller has put into items(); all have the same
    /// `resolved` upper bits. Returns numbers with position_mask(count) of the sorted rows in their
    /// low bits; order has `count` items and is used where rows are tied.
    const std::uint64_t* sort_positions(int resolved, std::size_t count, std::uint32_t* order);
    static std::uint64_t position_mask(std::size_t count) {
        return (std::uint64_t{1} << std::bit_width(count - 1)) - 1;
    }

private:
    // Neighbours out[begin, begin + count) that are equal so far.
    struct run {
        std::uint32_t begin;
        std::uint32_t count;
    };
    static void append_runs(const std::uint64_t* numbers, int shift, std::size_t begin,
                            std::size_t count, std::vector<run>& runs);
    template <class Index>
    void sort_runs(std::size_t word, const std::vector<run>& runs, Index* out);
    template <class Index>
    void sort_ties(std::size_t word, const std::uint64_t* items, int position_bits,
                   std::size_t count, Index* out);
    template <class RowOf, class Index>
    void sort_loaded(std::size_t word, std::size_t count, RowOf row_of, Index* out);

    std::span<const key_word> words_;
    std::uint64_t* items_;
    std::uint64_t* spare_;
    std::uint64_t* rows_;
};

}  // namespace lookback::cpu
