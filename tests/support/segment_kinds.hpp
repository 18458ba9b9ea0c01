// Tests: CSR offsets of every kind, and what each segment gives by a plain loop.
// Invariant: offsets begin with 0, never decrease and end at the size.
#pragma once

#include "support/generators.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lookback::test {

using offset_list = std::vector<std::int64_t>;

/// Offsets of segments whose lengths `length(random)` tells, cut at `size`.
template <class Length>
offset_list offsets_by(std::size_t size, const Length& length) {
    random_bits random(size);
    offset_list offsets = {0};
    const auto end = static_cast<std::int64_t>(size);
    while (offsets.back() < end) {
        offsets.push_back(
            std::min(end, offsets.back() + static_cast<std::int64_t>(length(random))));
    }
    return offsets;
}

/// One segment of all, but for `count` empty ones in front of item `place`.
inline offset_list crowded_offsets(std::size_t size, std::size_t place, std::size_t count) {
    offset_list offsets(count + 1, static_cast<std::int64_t>(place));
    offsets.front() = 0;
    offsets.push_back(static_cast<std::int64_t>(size));
    return offsets;
}

/// All kinds of segments: unit, four, random around five, skewed, one giant, giants among small
/// ones, nine of ten empty, and thousands of empty ones in one place.
inline std::vector<offset_list> kinds_of_offsets(std::size_t size) {
    const auto end = static_cast<std::int64_t>(size);
    std::vector<offset_list> kinds;
    kinds.push_back(offsets_by(size, [](auto&) { return 1U; }));
    kinds.push_back(offsets_by(size, [](auto&) { return 4U; }));
    kinds.push_back(offsets_by(size, [](auto& random) { return random() % 11; }));
    kinds.push_back(
        offsets_by(size, [](auto& random) { return 1 + (1ULL << random() % 12) % 3000; }));
    kinds.push_back(
        offsets_by(size, [](auto& random) { return random() % 10 == 0 ? random() % 90 : 0; }));
    kinds.push_back(size == 0 ? offset_list{0} : offset_list{0, end});
    kinds.push_back({0, 0, end / 3, end / 3 + (end > 3), end, end});
    kinds.push_back(crowded_offsets(size, size / 2, 5000 - 1));
    return kinds;
}

}  // namespace lookback::test
