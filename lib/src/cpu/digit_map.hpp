// CPU backend: which bucket a word belongs to, so that buckets come out even on skewed keys too.
// Invariant: the map grows with the word; equal words share a bucket.
#pragma once

#include "cpu/radix_partition.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookback::cpu {

class digit_map {
public:
    /// Chosen for words of which `bits` bits at the upper end are live, by a sample of them.
    digit_map(std::span<const std::uint64_t> sample, int bits, int digit_bits);

    std::size_t buckets() const { return buckets_; }
    /// The upper bits of a word that its bucket alone tells; 0 where buckets are uneven.
    int resolved_bits() const { return kind_ == kind::plain ? digit_bits_ : 0; }

    /// bucket[i] = that of words[i].
    void operator()(const std::uint64_t* words, std::size_t count, std::uint16_t* bucket) const {
        const std::uint16_t* const cells = cells_.data();
        switch (kind_) {
            case kind::plain:
                for (std::size_t i = 0; i < count; ++i) {
                    bucket[i] = static_cast<std::uint16_t>(words[i] >> (64 - digit_bits_));
                }
                return;
            case kind::even_cells:
                for (std::size_t i = 0; i < count; ++i) bucket[i] = cells[even_cell(words[i])];
                return;
            case kind::growing_cells:
                for (std::size_t i = 0; i < count; ++i) bucket[i] = cells[growing_cell(words[i])];
        }
    }

private:
    enum class kind { plain, even_cells, growing_cells };

    // Sixteen bits hold the exponent of every floating-point type, and 128 KiB of cells stay in the
    // second-level cache.
    static constexpr int cell_bits = 16;

    static std::size_t even_cell(std::uint64_t word) {
        return static_cast<std::size_t>(word >> (64 - cell_bits));
    }
    // As a floating-point number: the position of the leading bit, and the ten bits after it. For
    // words that spread over many powers of two.
    static std::size_t growing_cell(std::uint64_t word) {
        constexpr int after = 10;
        const int leading = 63 - std::countl_zero(word | 1);
        const std::uint64_t fraction =
            leading < after ? word << (after - leading) : word >> (leading - after);
        return static_cast<std::size_t>(leading) << after |
               static_cast<std::size_t>(fraction & ((1U << after) - 1));
    }

    kind kind_ = kind::plain;
    int digit_bits_;
    std::size_t buckets_;
    std::vector<std::uint16_t> cells_;
};

/// At most what a partition of `count` items, or of fewer, by a digit_map takes from its memory.
template <class Item>
std::size_t partition_memory(std::size_t count, int threads, int digit_bits) {
    using blocks = bucket_blocks<Item>;
    // A quarter is lost in half-empty blocks at most, or eight lines a bucket of each worker.
    const std::size_t lines = (std::size_t{1} << digit_bits) * 9;
    const std::size_t of_worker = lines * blocks::line_items + partition_batch + 4096;
    return (count + count / 4 + static_cast<std::size_t>(threads) * of_worker) * sizeof(Item);
}

/// Positions spread over [0, count), of which the words make a good sample; count > 0.
std::vector<std::uint64_t> sample_rows(std::size_t count);

}  // namespace lookback::cpu
