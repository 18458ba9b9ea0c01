#include "cpu/digit_map.hpp"

#include <algorithm>

namespace lookback::cpu {

std::vector<std::uint64_t> sample_rows(std::size_t count) {
    constexpr std::size_t most = std::size_t{1} << 13;  // a few for each of 2^11 buckets
    std::vector<std::uint64_t> rows(std::min(count, most));
    const std::uint64_t slot = count / rows.size();
    // One at a scattered place of each slot: regular input must not line up with the sample.
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i] = i * slot + (i * 0x9e3779b97f4a7c15U >> 32) % slot;
    }
    return rows;
}

digit_map::digit_map(std::span<const std::uint64_t> sample, int bits, int digit_bits)
    : digit_bits_(std::min(digit_bits, bits)), buckets_(std::size_t{1} << digit_bits_) {
    if (bits <= digit_bits_) return;
    // Plain digits first: they resolve bits and need no look-up.
    constexpr std::size_t cells = std::size_t{1} << cell_bits;
    std::vector<std::uint32_t> plain(buckets_);
    std::vector<std::uint32_t> even(cells);
    std::vector<std::uint32_t> growing(cells);
    for (const std::uint64_t word : sample) {
        ++plain[word >> (64 - digit_bits_)];
        ++even[even_cell(word)];
        ++growing[growing_cell(word)];
    }
    const auto most = [](const auto& weights) {
        return *std::max_element(weights.begin(), weights.end());
    };
    const std::uint32_t most_plain = most(plain);
    const std::uint32_t most_even = most(even);
    const std::uint32_t most_growing = most(growing);
    const std::uint32_t most_cell = std::min(most_even, most_growing);
    // Four buckets' worth in one is what chance gives uniform keys; a cell that is as full by
    // itself gains nothing from being told apart.
    const auto fair = static_cast<std::uint32_t>(sample.size() / buckets_ + 1);
    if (most_plain <= 4 * fair + 8 || most_cell > most_plain - most_plain / 4) return;
    kind_ = most_even <= most_growing ? kind::even_cells : kind::growing_cells;
    const std::vector<std::uint32_t>& weight = kind_ == kind::even_cells ? even : growing;
    // Cut where a bucket would grow beyond its share: half as much again as an even one, or narrow
    // cells next to wide ones would use up the buckets.
    const std::uint32_t share = fair + fair / 2;
    cells_.resize(weight.size());
    std::size_t bucket = 0;
    std::uint32_t held = 0;
    for (std::size_t cell = 0; cell < weight.size(); ++cell) {
        if (held != 0 && held + weight[cell] > share && bucket + 1 < buckets_) {
            ++bucket;
            held = 0;
        }
        held += weight[cell];
        cells_[cell] = static_cast<std::uint16_t>(bucket);
    }
    buckets_ = bucket + 1;
}

}  // namespace lookback::cpu
