// Level lib/io, private: deflate's Huffman codes (RFC 1951, 3.2) and blocks of literals alone.
// Invariant: codes are complete and no longer than their limit; a block decodes to its bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace lookback::io {

/// Bits on their way to memory, the lowest first. Writes up to 8 bytes past the last one.
class bit_sink {
public:
    explicit bit_sink(std::byte* to) : to_(to) {}

    /// At most 56 bits between two calls of drain().
    void put(std::uint64_t value, unsigned count) {
        bits_ |= value << count_;
        count_ += count;
    }
    void drain() {
        std::memcpy(to_, &bits_, sizeof(bits_));  // little-endian, as the apps' processors are
        to_ += count_ / 8;
        bits_ >>= count_ & ~7U;
        count_ %= 8;
    }
    bool aligned() const noexcept { return count_ == 0; }
    /// Fills up the last byte with zeros.
    std::byte* align() {
        drain();
        if (count_ > 0) ++to_;
        bits_ = 0;
        count_ = 0;
        return to_;
    }
    void move_to(std::byte* to) { to_ = to; }

private:
    std::byte* to_;
    std::uint64_t bits_ = 0;
    unsigned count_ = 0;
};

/// Lengths of a Huffman code for these frequencies, none above `most_bits`; 0 for symbols that do
/// not occur. At least two must.
void huffman_lengths(std::span<const std::uint32_t> frequencies, unsigned most_bits,
                     std::span<std::uint8_t> lengths);

/// A code for bytes, as a deflate block of literals uses it.
class literal_code {
public:
    static constexpr std::size_t symbols = 257;  ///< bytes and the end of the block

    /// From the number of times that each byte occurs.
    explicit literal_code(std::span<const std::uint32_t, 256> counts);

    /// Of a block of these bytes, its header included.
    std::uint64_t block_bits() const noexcept { return header_bits_ + data_bits_; }
    /// Appends a block that is not the last.
    void write(std::span<const std::byte> data, bit_sink& sink) const;

private:
    /// A symbol of the code in which lengths are told, and its extra bits.
    struct header_item {
        std::uint8_t symbol, extra, extra_bits;
    };
    void tell_lengths(std::span<const std::uint8_t> lengths);

    std::array<std::uint16_t, symbols> codes_{};
    std::array<std::uint8_t, symbols> lengths_{};
    std::array<header_item, symbols + 2> header_{};
    std::size_t header_items_ = 0;
    std::array<std::uint8_t, 19> told_lengths_{};
    std::array<std::uint16_t, 19> told_codes_{};
    std::size_t told_ = 0;  // of told_lengths_, in deflate's order
    std::uint64_t header_bits_ = 0;
    std::uint64_t data_bits_ = 0;
};

}  // namespace lookback::io
