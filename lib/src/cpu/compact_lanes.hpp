// CPU backend: the loops of compaction on one thread with SIMD: flags as bits, and rows moved by
// them. Invariant: words hold one bit a row; bits behind the last row are 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lookback::cpu {

/// Bytes that compress() may write behind the last row that it keeps.
inline constexpr std::size_t compress_slack_bytes = 64;

/// The comparisons that exist as loops; the others are their complements, or these on floats.
enum class mark_comparison : std::uint8_t { less, greater, equal, less_equal, greater_equal };

template <class T>
struct mark_lanes {
    /// words = in[i] OP value, for n items.
    using compare = void (*)(const T* in, std::size_t n, T value, std::uint64_t* words);
    /// words = in[i] differs from in[i - 1]; in[-1] is there.
    using heads = void (*)(const T* in, std::size_t n, std::uint64_t* words);
};

/// For the machine's best instruction set. less_equal and greater_equal are for floats alone.
template <class T>
typename mark_lanes<T>::compare find_mark_compare(mark_comparison op);
template <class T>
typename mark_lanes<T>::heads find_mark_heads();

struct compact_lanes {
    /// words = flags[i] != 0.
    void (*bits_from_bytes)(const std::uint8_t* flags, std::size_t n, std::uint64_t* words);
    /// The number of bits that are set in n words.
    std::size_t (*count)(const std::uint64_t* words, std::size_t n);
    /// Moves the rows whose bits are set to `out`, without a gap; returns the end of the last one.
    /// Reads nothing but the n rows; may write compress_slack_bytes behind the last row kept. in
    /// and out do not overlap. Meanwhile it asks for as many bytes from `ahead` on, unless null.
    using compress = std::byte* (*)(const std::byte* in, const std::uint64_t* words, std::size_t n,
                                    std::size_t row_bytes, const std::byte* ahead, std::byte* out);
    compress (*compress_for)(std::size_t row_bytes);
    /// Copies lines of 64 bytes past the caches, to a multiple of 64. Other threads see them after
    /// end_stream(). The line behind them is copied to `carry`.
    void (*stream)(const std::byte* lines, std::size_t bytes, std::byte* to, std::byte* carry);
    void (*end_stream)();
};

compact_lanes find_compact_lanes();

}  // namespace lookback::cpu
