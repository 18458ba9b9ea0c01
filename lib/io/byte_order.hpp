// Level lib/io, private: byte order of words and arrays of words.
// Invariant: words are 1, 2, 4 or 8 bytes; arrays need no alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lookback::io {

template <class Word>
requires std::is_unsigned_v<Word>
constexpr Word byte_swap(Word word) {
    if constexpr (sizeof(Word) == 2) return __builtin_bswap16(word);
    if constexpr (sizeof(Word) == 4) return __builtin_bswap32(word);
    if constexpr (sizeof(Word) == 8) return __builtin_bswap64(word);
    return word;
}

/// Swaps `bytes` bytes of words in place; loops of this form are vectorised by the compiler.
template <class Word>
void swap_words(std::byte* memory, std::size_t bytes) {
    for (std::size_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
        Word word;
        std::memcpy(&word, memory + at, sizeof(Word));
        word = byte_swap(word);
        std::memcpy(memory + at, &word, sizeof(Word));
    }
}

inline void swap_in_place(std::byte* memory, std::size_t bytes, std::size_t word_bytes) {
    if (word_bytes == 2) swap_words<std::uint16_t>(memory, bytes);
    if (word_bytes == 4) swap_words<std::uint32_t>(memory, bytes);
    if (word_bytes == 8) swap_words<std::uint64_t>(memory, bytes);
}

}  // namespace lookback::io
