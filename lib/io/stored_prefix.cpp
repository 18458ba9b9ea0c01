#include "io/stored_prefix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace lookback::io {
namespace {

// What is judged at a time: deflate's window, and enough for the bytes' shares to show.
constexpr std::size_t segment_bytes = std::size_t{1} << 15;
constexpr int hash_bits = 14;
// Less than these and deflate gains nothing that is worth its time: bits a byte that a Huffman code
// needs, and one repeat of four bytes in so many places.
constexpr double random_bits = 7.92;
constexpr std::size_t places_a_repeat = 512;

std::uint32_t load_four(const std::byte* from) {
    std::uint32_t value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

double bits_a_byte(std::span<const std::byte> data) {
    // Two tables: equal neighbours would wait for each other's count.
    std::array<std::array<std::uint32_t, 256>, 2> count{};
    for (std::size_t i = 0; i + 1 < data.size(); i += 2) {
        ++count[0][std::to_integer<std::size_t>(data[i])];
        ++count[1][std::to_integer<std::size_t>(data[i + 1])];
    }
    const std::size_t counted = data.size() & ~std::size_t{1};
    const auto all = static_cast<double>(counted);
    double bits = 0;
    for (std::size_t value = 0; value < 256; ++value) {
        const double n = count[0][value] + count[1][value];
        if (n > 0) bits += n * std::log2(all / n);
    }
    return bits / all;
}

}  // namespace

bool stored_prefix::is_random(std::span<const std::byte> data, std::size_t begin, std::size_t end) {
    if (bits_a_byte(data.subspan(begin, end - begin)) < random_bits) return false;
    // Bytes of equal shares may still repeat: 0, 1, ... 255, 0, 1, ...
    std::size_t repeats = 0;
    for (std::size_t i = begin; i + sizeof(std::uint32_t) <= end; ++i) {
        const std::uint32_t four = load_four(&data[i]);
        std::uint32_t& last = last_place_[four * 0x9e3779b1U >> (32 - hash_bits)];
        // Place 0 stands for none; it is its own repeat, once.
        repeats += static_cast<std::size_t>(load_four(&data[last]) == four);
        last = static_cast<std::uint32_t>(i);
    }
    return repeats < (end - begin) / places_a_repeat;
}

std::size_t stored_prefix::operator()(std::span<const std::byte> data) {
    last_place_.assign(std::size_t{1} << hash_bits, 0);
    std::size_t begin = 0;
    while (data.size() - begin >= segment_bytes && begin < UINT32_MAX - segment_bytes) {
        if (!is_random(data, begin, begin + segment_bytes)) break;
        begin += segment_bytes;
    }
    return begin;
}

}  // namespace lookback::io
