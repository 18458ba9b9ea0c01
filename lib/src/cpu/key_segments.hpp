// CPU backend: buckets of the first pass whose table fits the registers of a core.
// Invariant: bucket() rises with the place, and begins[b] is the lowest place of bucket b.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lookback::cpu {

/// Segments are equal ranges of numbers; each is cut into equal buckets, or shares one with others.
/// So a key's bucket takes no look at the memory, and where the density of keys changes gently, as
/// that of floats does over their exponents, buckets are nearly even.
struct key_segments {
    static constexpr int count_bits = 6;
    static constexpr std::size_t count = std::size_t{1} << count_bits;
    static constexpr int place_bits = 16;  ///< so finely a place inside a segment is told

    bool used = false;
    int shift = 0;  ///< from a distance to its place, in units of 2^-place_bits segments
    /// The first bucket, above so many buckets; none where it is shared.
    alignas(64) std::array<std::uint32_t, count> entries{};

    static std::size_t segment(std::uint32_t place) { return place >> place_bits; }
    static std::size_t bucket(std::uint32_t entry, std::uint32_t place) {
        const std::uint32_t inside = place & ((1U << place_bits) - 1);
        return (entry >> 16) + (inside * (entry & 0xffff) >> place_bits);
    }
    std::size_t bucket(std::uint32_t place) const { return bucket(entries[segment(place)], place); }

    /// Cuts segment s into parts[s] buckets; those of less than two share buckets that should hold
    /// `share` of the sample, of which they hold held[s]. Returns the lowest place of each bucket.
    using counts = std::array<std::uint32_t, count>;
    std::vector<std::uint32_t> cut(const counts& parts, const counts& held, std::size_t share) {
        std::vector<std::uint32_t> begins;
        std::size_t filled = share;  // of the last bucket
        for (std::size_t s = 0; s < count; ++s) {
            const auto begin = static_cast<std::uint32_t>(s << place_bits);
            const bool shared = parts[s] < 2;
            if (begins.empty() || (shared ? filled + held[s] > share + share / 2 : filled != 0)) {
                begins.push_back(begin);
                filled = 0;
            }
            const auto first = static_cast<std::uint32_t>(begins.size() - 1);
            entries[s] = first << 16 | (shared ? 0 : parts[s]);
            filled += held[s];
            if (shared) continue;
            for (std::uint32_t part = 1; part < parts[s]; ++part) {
                begins.push_back(begin + ((part << place_bits) + parts[s] - 1) / parts[s]);
            }
            filled = share;
        }
        return begins;
    }
};

}  // namespace lookback::cpu
