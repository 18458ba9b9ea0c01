// CPU backend: a narrow range of numbers that holds so many keys that the first pass of a sort
// counts them rather than moves them.
// Invariant: no number of a window stands for keys with different bits, so counts tell all.
#pragma once

#include "cpu/key_mapping.hpp"
#include "cpu/key_runs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lookback::cpu {

/// The numbers [low, low + size), each with `copies` counters a worker.
template <class Bits>
struct key_window {
    /// 2^16 counters of 4 bytes stay in the L2 cache.
    static constexpr std::size_t most_numbers = std::size_t{1} << 16;
    static constexpr std::size_t most_copies = 4;

    ordered_number<Bits> low = 0;
    Bits size = 0;           ///< 0: nothing is counted
    std::size_t copies = 1;  ///< a power of two

    std::size_t counters() const { return static_cast<std::size_t>(size) * copies; }
    bool holds(ordered_number<Bits> number) const {
        return static_cast<Bits>(static_cast<Bits>(number) - static_cast<Bits>(low)) < size;
    }
};

/// Counters that the windows of a sort of n keys need at most, for one worker.
inline std::size_t most_window_counters(std::size_t n) {
    using window = key_window<std::uint32_t>;
    return std::min(n / 32, window::most_numbers) * window::most_copies;
}

/// The window that holds most of the sorted sample of n keys; none where this is less than a
/// quarter, for then counting gains less than the look at every key costs.
template <class Bits>
key_window<Bits> plan_window(std::span<const ordered_number<Bits>> sample, std::size_t n) {
    key_window<Bits> window;
    const std::size_t numbers = std::min(n / 32, window.most_numbers);
    // Counters have 32 bits.
    if (sample.empty() || numbers == 0 || n > std::numeric_limits<std::uint32_t>::max()) {
        return window;
    }
    const auto distance = [&](std::size_t from, std::size_t to) {
        return static_cast<Bits>(static_cast<Bits>(sample[to]) - static_cast<Bits>(sample[from]));
    };
    std::size_t first = 0;
    std::size_t best_first = 0;
    std::size_t best = 0;
    for (std::size_t last = 0; last < sample.size(); ++last) {
        while (distance(first, last) >= numbers) ++first;
        if (last + 1 - first > best) {
            best = last + 1 - first;
            best_first = first;
        }
    }
    if (best < sample.size() / 4) return window;
    window.low = sample[best_first];
    window.size = static_cast<Bits>(distance(best_first, best_first + best - 1) + 1);
    // A bucket reaches down to a window, which needs a number below it.
    if (window.low == std::numeric_limits<ordered_number<Bits>>::min()) {
        ++window.low;
        --window.size;
    }
    // An addition waits for the one before to the same counter: a value that is an eighth of all
    // keys gets counters to use in turn.
    std::size_t run = 0;
    for (std::size_t i = best_first; i < best_first + best; ++i) {
        run = i > best_first && sample[i] == sample[i - 1] ? run + 1 : 1;
        if (run > sample.size() / 8) window.copies = window.most_copies;
    }
    return window;
}

/// A window cut so that it holds neither of the two zeros, which no sample has.
template <class Bits>
key_window<Bits> without_zeros(key_window<Bits> window, ordered_number<Bits> lower_zero) {
    if (window.low < lower_zero) {
        const auto below =
            static_cast<Bits>(static_cast<Bits>(lower_zero) - static_cast<Bits>(window.low));
        window.size = std::min(window.size, below);
    }
    return window;
}

/// The keys that were counted, in rising order. counts: those of all workers, one after the other.
template <class Mapping>
std::vector<key_count<typename Mapping::bits_type>> counted_runs(
    const Mapping& mapping, const key_window<typename Mapping::bits_type>& window,
    std::span<const std::uint32_t> counts) {
    using bits_type = typename Mapping::bits_type;
    std::vector<key_count<bits_type>> runs;
    const auto size = static_cast<std::size_t>(window.size);
    for (std::size_t value = 0; value < size; ++value) {
        std::size_t sum = 0;
        for (std::size_t i = value; i < counts.size(); i += size) sum += counts[i];
        if (sum == 0) continue;
        const auto number = static_cast<typename Mapping::number>(
            static_cast<bits_type>(window.low) + static_cast<bits_type>(value));
        runs.push_back({mapping.from(number), sum});
    }
    return runs;
}

}  // namespace lookback::cpu
