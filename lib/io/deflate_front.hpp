// Level lib/io, private: the front of a deflate stream, where looking for repeats gains nothing.
// Invariant: a choice about speed and size alone, which depends on the data alone; whatever it is,
// the stream decodes to the data.
// Source: RFC 1951: stored blocks, and blocks of literals under a Huffman code of their own.
#pragma once

#include "io/huffman_code.hpp"
#include "io/scratch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

struct libdeflate_compressor;

namespace lookback::io {

/// Shuffled numbers begin with the planes of their low bytes (on little-endian machines): random
/// ones, which are stored as they are, then uneven ones without order, which a Huffman code alone
/// makes as short as deflate does, or shorter. Both take a fraction of its time.
class deflate_front {
public:
    /// Of the bytes that write() puts out for `size` bytes at most.
    static std::size_t bound(std::size_t size);

    struct result {
        std::size_t taken = 0;  ///< bytes of the data
        std::byte* end;         ///< of the blocks: byte-aligned, and none is the last
    };
    /// Writes blocks up to the first bytes in which repeats are worth looking for, by trials with
    /// this compressor.
    result write(std::span<const std::byte> data, libdeflate_compressor& compressor, std::byte* to);

private:
    bool gains_by_repeats(std::span<const std::byte> data, std::size_t begin, double bits_a_byte,
                          libdeflate_compressor& compressor);
    bool repeats(std::span<const std::byte> data, std::size_t begin, std::size_t end);

    std::vector<std::uint32_t> last_place_;  // by hash of four bytes: where they stood last
    scratch trial_;
};

}  // namespace lookback::io
