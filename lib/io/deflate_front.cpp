#include "io/deflate_front.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <libdeflate.h>

namespace lookback::io {
namespace {

// What is judged at a time: deflate's window, and enough for the bytes' shares to show.
constexpr std::size_t segment_bytes = std::size_t{1} << 15;
// A stored block, RFC 1951: a byte, the length twice, the data. Empty, it ends the front.
constexpr std::size_t block_header_bytes = 5;
// A Huffman code that gains less than 1 % is not worth its time, to writers and to readers.
constexpr double random_bits = 7.92;
// Bytes that random are stored if four of them repeat in fewer than one place of so many.
constexpr int match_hash_bits = 14;
constexpr std::size_t places_a_repeat = 512;
// Others have no worthwhile repeats where deflate is not shorter than a Huffman code alone by this.
constexpr double least_gain = 0.02;
// A plane of a chunk of usual size is four segments: what holds for one holds for the next ones
// that are as uneven.
constexpr int segments_a_trial = 4;
constexpr double alike_bits = 0.05;

std::uint32_t load_four(const std::byte* from) {
    std::uint32_t value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
}

std::array<std::uint32_t, 256> count_bytes(std::span<const std::byte> data) {
    // Four tables: equal neighbours would wait for each other's count.
    std::array<std::array<std::uint32_t, 256>, 4> count{};
    std::size_t i = 0;
    for (; i + 4 <= data.size(); i += 4) {
        for (std::size_t k = 0; k < 4; ++k) ++count[k][std::to_integer<std::size_t>(data[i + k])];
    }
    for (; i < data.size(); ++i) ++count[0][std::to_integer<std::size_t>(data[i])];
    for (std::size_t value = 0; value < 256; ++value) {
        count[0][value] += count[1][value] + count[2][value] + count[3][value];
    }
    return count[0];
}

void write_stored(std::span<const std::byte> data, bit_sink& sink) {
    sink.put(0, 3);
    std::byte* const to = sink.align();
    to[0] = static_cast<std::byte>(data.size() & 0xff);
    to[1] = static_cast<std::byte>(data.size() >> 8);
    to[2] = ~to[0];
    to[3] = ~to[1];
    if (!data.empty()) std::memcpy(to + 4, data.data(), data.size());
    sink.move_to(to + 4 + data.size());
}

}  // namespace

std::size_t deflate_front::bound(std::size_t size) {
    // Each segment takes at most its bytes and a header; a sink writes up to 8 bytes too far.
    return size + (size / segment_bytes + 2) * block_header_bytes + 8;
}

bool deflate_front::repeats(std::span<const std::byte> data, std::size_t begin, std::size_t end) {
    // Bytes of equal shares may still repeat: 0, 1, ... 255, 0, 1, ...
    std::size_t found = 0;
    for (std::size_t i = begin; i + sizeof(std::uint32_t) <= end; ++i) {
        const std::uint32_t four = load_four(&data[i]);
        std::uint32_t& last = last_place_[four * 0x9e3779b1U >> (32 - match_hash_bits)];
        // Place 0 stands for none; it is its own repeat, once.
        found += static_cast<std::size_t>(load_four(&data[last]) == four);
        last = static_cast<std::uint32_t>(i);
    }
    return found >= (end - begin) / places_a_repeat;
}

bool deflate_front::gains_by_repeats(std::span<const std::byte> data, std::size_t begin,
                                     double bits_a_byte, libdeflate_compressor& compressor) {
    if (bits_a_byte > random_bits) return repeats(data, begin, begin + segment_bytes);
    const double most = bits_a_byte / 8 * segment_bytes * (1 - least_gain);
    const auto room = static_cast<std::size_t>(most);
    // No room for more: 0 says that it would take more.
    return libdeflate_deflate_compress(&compressor, &data[begin], segment_bytes,
                                       trial_.reserve(segment_bytes), room) != 0;
}

deflate_front::result deflate_front::write(std::span<const std::byte> data,
                                           libdeflate_compressor& compressor, std::byte* to) {
    last_place_.assign(std::size_t{1} << match_hash_bits, 0);
    bit_sink sink(to);
    std::size_t begin = 0;
    double tried_bits = 0;
    int since_trial = 0;
    while (data.size() - begin >= segment_bytes && begin < UINT32_MAX - segment_bytes) {
        const auto segment = data.subspan(begin, segment_bytes);
        const literal_code code(count_bytes(segment));
        const double bits_a_byte = static_cast<double>(code.block_bits()) / segment_bytes;
        const bool alike = std::fabs(bits_a_byte - tried_bits) < alike_bits;
        if (begin == 0 || !alike || since_trial == segments_a_trial) {
            if (gains_by_repeats(data, begin, bits_a_byte, compressor)) break;
            tried_bits = bits_a_byte;
            since_trial = 0;
        }
        ++since_trial;
        if (bits_a_byte > random_bits) {
            write_stored(segment, sink);
        } else {
            code.write(segment, sink);
        }
        begin += segment_bytes;
    }
    if (!sink.aligned()) write_stored({}, sink);
    return {begin, sink.align()};
}

}  // namespace lookback::io
