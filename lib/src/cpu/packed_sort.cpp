#include "cpu/packed_sort.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace lookback::cpu {
namespace {

// Below this an insertion sort is done before a histogram is cleared.
constexpr std::size_t insertion_items = 24;
constexpr int most_digit_bits = 10;
constexpr int most_passes = 8;
// Digits distinguish 2^spread_bits times as many keys as there are items, so that of random keys
// only one in 2^spread_bits still has a neighbour with the same digits.
constexpr int spread_bits = 3;

void insertion_sort(std::uint64_t* items, std::size_t n) {
    for (std::size_t i = 1; i < n; ++i) {
        const std::uint64_t item = items[i];
        std::size_t to = i;
        for (; to != 0 && items[to - 1] > item; --to) items[to] = items[to - 1];
        items[to] = item;
    }
}

// The same for items that are nearly in order; false, with the items permuted, once that took more
// moves than there are items: hostile keys must not cost quadratic time.
bool mend(std::uint64_t* items, std::size_t n) {
    std::size_t moves = n;
    for (std::size_t i = 1; i < n; ++i) {
        const std::uint64_t item = items[i];
        if (items[i - 1] < item) [[likely]]
            continue;
        std::size_t to = i;
        for (; to != 0 && items[to - 1] > item; --to) items[to] = items[to - 1];
        items[to] = item;
        if (i - to > moves) return false;
        moves -= i - to;
    }
    return true;
}

// LSD passes over the bits [low, low + passes * bits); returns the array that holds the result.
std::uint64_t* sort_digits(std::uint64_t* items, std::uint64_t* spare, std::size_t n, int low,
                           int bits, int passes) {
    std::uint32_t count[most_passes][1 << most_digit_bits];
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    for (int pass = 0; pass < passes; ++pass) std::memset(count[pass], 0, (mask + 1) * 4);
    if (passes == 2) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t digits = items[i] >> low;
            ++count[0][digits & mask];
            ++count[1][digits >> bits & mask];
        }
    } else {
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t digits = items[i] >> low;
            for (int pass = 0; pass < passes; ++pass, digits >>= bits) ++count[pass][digits & mask];
        }
    }
    for (int pass = 0; pass < passes; ++pass) {
        const int shift = low + pass * bits;
        std::uint32_t* const next = count[pass];
        if (next[items[0] >> shift & mask] == n) continue;
        std::uint32_t sum = 0;
        for (std::size_t digit = 0; digit <= mask; ++digit) {
            sum += std::exchange(next[digit], sum);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t item = items[i];
            spare[next[item >> shift & mask]++] = item;
        }
        std::swap(items, spare);
    }
    return items;
}

}  // namespace

std::uint64_t* sort_packed(std::uint64_t* items, std::uint64_t* spare, std::size_t n,
                           int position_bits) {
    if (n <= insertion_items) {
        insertion_sort(items, n);
        return items;
    }
    std::uint64_t differ = 0;
    for (std::size_t i = 1; i < n; ++i) differ |= items[i] ^ items[0];
    const int top = static_cast<int>(std::bit_width(differ));
    if (top <= position_bits) return items;
    const int live = top - position_bits;
    const int wanted = std::min(live, static_cast<int>(std::bit_width(n)) + spread_bits);
    const int passes = (wanted + most_digit_bits - 1) / most_digit_bits;
    const int bits = (wanted + passes - 1) / passes;
    const int covered = passes * bits;
    // Where the digits reach into the position bits nothing is lost: these are in order already.
    const int low = std::max(top - covered, 0);
    std::uint64_t* sorted = sort_digits(items, spare, n, low, bits, passes);
    if (covered >= live || mend(sorted, n)) return sorted;
    std::uint64_t* other = sorted == items ? spare : items;
    const int all_passes = (live + most_digit_bits - 1) / most_digit_bits;
    const int all_bits = (live + all_passes - 1) / all_passes;
    return sort_digits(sorted, other, n, std::max(top - all_passes * all_bits, 0), all_bits,
                       all_passes);
}

}  // namespace lookback::cpu
