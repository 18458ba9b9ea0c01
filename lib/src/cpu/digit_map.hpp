// CPU backend: which bucket a word belongs to, so that buckets come out even on skewed keys too.
// Invariant: the map grows with the word; equal words share a bucket.
#pragma once

#include "cpu/radix_partition.hpp"

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
    int resolved_bits() const { return cells_.empty() ? digit_bits_ : 0; }

    /// bucket[i] = that of words[i].
    void operator()(const std::uint64_t* words, std::size_t count, std::uint16_t* bucket) const {
        if (cells_.empty()) {
            const int shift = 64 - digit_bits_;
            for (std::size_t i = 0; i < count; ++i) {
                bucket[i] = static_cast<std::uint16_t>(words[i] >> shift);
            }
        } else {
            const std::uint16_t* const cells = cells_.data();
            for (std::size_t i = 0; i < count; ++i) bucket[i] = cells[words[i] >> (64 - cell_bits)];
        }
    }

private:
    // Sixteen bits hold the exponent of every floating-point type, and 128 KiB of cells stay in the
    // second-level cache.
    static constexpr int cell_bits = 16;

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
