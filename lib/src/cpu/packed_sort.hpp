// CPU backend: the sort inside the caches that every pair, index and multi-key sort ends in.
// Invariant: items are different numbers, key bits above position bits; sorting the numbers is
// therefore stable by the keys.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookback::cpu {

/// Sorts n different numbers, of which those with equal bits above `position_bits` stand in
/// ascending order already. Both arrays have n items; returns the one that holds the result.
std::uint64_t* sort_packed(std::uint64_t* items, std::uint64_t* spare, std::size_t n,
                           int position_bits);

}  // namespace lookback::cpu
