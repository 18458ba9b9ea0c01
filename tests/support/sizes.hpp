// Tests: the sizes at which tiled algorithms go wrong.
// Invariant: every list is sorted, without repeats, and starts with 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace lookback::test {

inline void sort_unique(std::vector<std::size_t>& sizes) {
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
}

/// 0, 1, and one less, exactly and one more of: vectors and warps (powers of two to 1024), and one,
/// two, three and `many` tiles of tile_items.
inline std::vector<std::size_t> boundary_sizes(std::size_t tile_items, std::size_t many = 7) {
    std::vector<std::size_t> sizes = {0, 1, 2, 3, 1000};
    const auto around = [&sizes](std::size_t size) {
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

}  // namespace lookback::test
