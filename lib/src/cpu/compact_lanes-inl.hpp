// CPU backend, compiled once a SIMD target: rows moved by bits, behind compact_lanes.hpp.
// Invariant: of 64 rows under one word the loops touch those 64 rows alone; partial words go row by
// row. AVX-512 has vpcompress for 4 and 8 bytes; all else permutes by a table of set bits. Stores
// go from registers: vpcompress to memory takes a hundred cycles on Zen 4.
#if defined(LOOKBACK_COMPACT_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_COMPACT_LANES_INL
#undef LOOKBACK_COMPACT_LANES_INL
#else
#define LOOKBACK_COMPACT_LANES_INL
#endif

#include "cpu/compact_lanes.hpp"
#include "cpu/set_bits.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE std::size_t bit_count(std::uint64_t word) {
    return static_cast<std::size_t>(__builtin_popcountll(word));
}

inline std::size_t count_bits(const std::uint64_t* words, std::size_t n) {
    std::size_t count = 0;
    for (std::size_t w = 0; w < n; ++w) count += bit_count(words[w]);
    return count;
}

template <std::size_t Bytes>
HWY_INLINE void copy_row(const std::byte* from, std::byte* to, std::size_t bytes) {
    if constexpr (Bytes != 0) {
        std::memcpy(to, from, Bytes);
    } else if (bytes >= 16) {
        // Whole pieces and one that overlaps the last of them.
        for (std::size_t at = 0; at + 16 < bytes; at += 16) std::memcpy(to + at, from + at, 16);
        std::memcpy(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        std::memcpy(to, from, 8);
        std::memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else {
        for (std::size_t at = 0; at < bytes; ++at) to[at] = from[at];
    }
}

/// The rows under the set bits, one after the other: for few bits, and for any size of row.
template <std::size_t Bytes>
HWY_INLINE std::byte* compress_sparse(const std::byte* in, std::uint64_t word,
                                      std::size_t row_bytes, std::byte* out) {
    const std::size_t bytes = Bytes != 0 ? Bytes : row_bytes;
    for (; word != 0; word &= word - 1) {
        copy_row<Bytes>(in + static_cast<std::size_t>(__builtin_ctzll(word)) * bytes, out, bytes);
        out += bytes;
    }
    return out;
}

#if HWY_TARGET == HWY_AVX3
template <std::size_t Bytes>
HWY_INLINE std::byte* compress_word(const std::byte* in, std::uint64_t word, std::byte* out) {
    constexpr std::size_t lanes = 64 / Bytes;
    for (std::size_t row = 0; row < 64; row += lanes) {
        const __m512i rows = _mm512_loadu_si512(in + row * Bytes);
        if constexpr (Bytes == 4) {
            const auto mask = static_cast<__mmask16>(word >> row);
            _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(mask, rows));
            out += bit_count(mask) * Bytes;
        } else {
            const auto mask = static_cast<__mmask8>(word >> row);
            _mm512_storeu_si512(out, _mm512_maskz_compress_epi64(mask, rows));
            out += bit_count(mask) * Bytes;
        }
    }
    return out;
}
#elif HWY_TARGET == HWY_AVX2
template <std::size_t Bytes>
HWY_INLINE std::byte* compress_word(const std::byte* in, std::uint64_t word, std::byte* out) {
    constexpr std::size_t lanes = 32 / Bytes;
    constexpr std::uint64_t lane_mask = (1U << lanes) - 1;
    for (std::size_t row = 0; row < 64; row += lanes) {
        const std::uint64_t mask = word >> row & lane_mask;
        const __m256i rows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + row * Bytes));
        __m256i order;
        if constexpr (Bytes == 4) {
            order = _mm256_cvtepu8_epi32(
                _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&set_bits.bytes[mask])));
        } else {
            order = _mm256_cvtepu8_epi32(
                _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&set_pairs.bytes[mask])));
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                            _mm256_permutevar8x32_epi32(rows, order));
        out += bit_count(mask) * Bytes;
    }
    return out;
}
#endif

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
/// Rows of one or two bytes, eight at a time: neither AVX2 nor AVX-512 without VBMI2 compresses
/// them.
template <std::size_t Bytes>
HWY_INLINE std::byte* compress_narrow_word(const std::byte* in, std::uint64_t word,
                                           std::byte* out) {
    for (std::size_t row = 0; row < 64; row += 8) {
        const std::uint64_t mask = word >> row & 255U;
        const __m128i set =
            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&set_bits.bytes[mask]));
        if constexpr (Bytes == 1) {
            const __m128i rows = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + row));
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(rows, set));
        } else {
            const __m128i rows = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + row * 2));
            const __m128i twice = _mm_unpacklo_epi8(set, set);
            const __m128i order = _mm_add_epi8(_mm_add_epi8(twice, twice), _mm_set1_epi16(0x0100));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(rows, order));
        }
        out += bit_count(mask) * Bytes;
    }
    return out;
}
#endif

/// 64 rows under one word that has many bits set.
template <std::size_t Bytes>
HWY_INLINE std::byte* compress_dense(const std::byte* in, std::uint64_t word, std::size_t row_bytes,
                                     std::byte* out) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    if constexpr (Bytes == 4 || Bytes == 8) return compress_word<Bytes>(in, word, out);
    if constexpr (Bytes == 1 || Bytes == 2) return compress_narrow_word<Bytes>(in, word, out);
#endif
    if constexpr (Bytes == 0) return compress_sparse<Bytes>(in, word, row_bytes, out);
    // Without a branch: a row that does not pass is overwritten by the next one.
    for (std::size_t row = 0; row < 64; ++row) {
        std::memcpy(out, in + row * Bytes, Bytes);
        out += (word >> row & 1U) * Bytes;
    }
    return out;
}

/// Up to so many bits of a word are taken one by one: a loop of that many mispredicts once, which a
/// few vectors do not.
template <std::size_t Bytes>
inline constexpr std::size_t sparse_bits = Bytes == 0    ? 64
                                           : Bytes == 16 ? 12
                                                         : 6;

template <std::size_t Bytes>
std::byte* compress_rows(const std::byte* in, const std::uint64_t* words, std::size_t n,
                         std::size_t row_bytes, const std::byte* ahead, std::byte* out) {
    const std::size_t bytes = Bytes != 0 ? Bytes : row_bytes;
    if (ahead == nullptr) ahead = in;  // is in cache: cheaper than a branch for each word
    std::size_t w = 0;
    for (; (w + 1) * 64 <= n; ++w, in += 64 * bytes, ahead += 64 * bytes) {
        const std::uint64_t word = words[w];
        for (std::size_t line = 0; line < 64 * bytes; line += 64) {
            __builtin_prefetch(ahead + line, 0, 2);
        }
        // Four vectors cost less than the branch: 10 % of u32 kept, one thread, 55 ms with it, 43
        // without.
        constexpr bool branch_pays = !(HWY_TARGET == HWY_AVX3 && (Bytes == 4 || Bytes == 8));
        if (branch_pays && word == ~std::uint64_t{0}) {
            std::memcpy(out, in, 64 * bytes);
            out += 64 * bytes;
        } else if (branch_pays && bit_count(word) <= sparse_bits<Bytes>) {
            out = compress_sparse<Bytes>(in, word, row_bytes, out);
        } else {
            out = compress_dense<Bytes>(in, word, row_bytes, out);
        }
    }
    if (w * 64 < n) out = compress_sparse<Bytes>(in, words[w], row_bytes, out);
    return out;
}

inline compact_lanes::compress choose_compress(std::size_t row_bytes) {
    switch (row_bytes) {
        case 1:
            return &compress_rows<1>;
        case 2:
            return &compress_rows<2>;
        case 4:
            return &compress_rows<4>;
        case 8:
            return &compress_rows<8>;
        case 16:
            return &compress_rows<16>;
        default:
            return &compress_rows<0>;
    }
}

inline void stream_lines(const std::byte* lines, std::size_t bytes, std::byte* to,
                         std::byte* carry) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto* from = reinterpret_cast<const std::uint8_t*>(lines);
    for (std::size_t at = 0; at < bytes; at += lanes) {
        hn::Stream(hn::LoadU(d, from + at), d, reinterpret_cast<std::uint8_t*>(to) + at);
    }
    for (std::size_t at = 0; at < 64; at += lanes) {
        hn::StoreU(hn::LoadU(d, from + bytes + at), d, reinterpret_cast<std::uint8_t*>(carry) + at);
    }
}

inline void end_stream() {
    hwy::FlushStream();
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
