// Tests: the sizes at which tiled algorithms go wrong.
// Invariant: every list is sorted, without repeats, and starts with 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lookback::test {

/// Sanitizers slow a test down by 20 to 100 times: they get every k-th size of a long list.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

inline void sort_unique(std::vector<std::size_t>& sizes) {
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
}

/// 0, 1, and one less, exactly and one more of: vectors and warps (powers of two to 1024), and one,
/// two, three and `many` tiles of tile_items.
inline std::vector<std::size_t> boundary_sizes(std::size_t tile_items, std::size_t many = 7) {
    std::vector<std::size_t> sizes = {0, 1, 2, 3, 1000};
    const auto around = [&sizes](std::size_t size) {
        if (size == 0) return;
        for (const std::size_t near : {size - 1, size, size + 1}) sizes.push_back(near);
    };
    for (std::size_t power = 4; power <= 1024; power *= 2) around(power);
    for (const std::size_t tiles : {std::size_t{1}, std::size_t{2}, std::size_t{3}, many}) {
        around(tiles * tile_items);
    }
    around(tile_items / 2);
    sort_unique(sizes);
    return sizes;
}

/// 0 and the sizes from one tile to two: every one, or every stride-th with both ends.
inline std::vector<std::size_t> one_tile_to_two(std::size_t tile_items, std::size_t stride = 1) {
    std::vector<std::size_t> sizes = {0};
    for (std::size_t size = tile_items; size <= 2 * tile_items; size += stride) {
        sizes.push_back(size);
    }
    sizes.push_back(2 * tile_items);
    sort_unique(sizes);
    return sizes;
}

/// All sizes, or under a sanitizer every k-th one and the last.
inline std::vector<std::size_t> fewer_if_sanitized(const std::vector<std::size_t>& sizes,
                                                   std::size_t k) {
    if (!sanitized) return sizes;
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < sizes.size(); i += k) kept.push_back(sizes[i]);
    kept.push_back(sizes.back());
    sort_unique(kept);
    return kept;
}

}  // namespace lookback::test
