// Level L5 (device): items, or the words of string keys, taken through an index.
// Invariant: out[i] depends on index[i] alone. Traffic: one read of the index, one scattered read
// and one write an item.
#pragma once

#include <lookback/kernels/arch/atomics.cuh>
#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/core/tile_shape.hpp>

namespace lookback::device {

using core::index_t;

inline constexpr int gather_threads = 256;
inline constexpr index_t most_gather_blocks = 1 << 16;

/// Items of `words` Words each; a thread a word, so that neighbours take neighbouring words.
template <class Word, class Index>
__global__ void __launch_bounds__(gather_threads)
    gather_items(const Word* in, const Index* index, Word* out, index_t items, index_t words) {
    const index_t all = items * words;
    for (index_t at = arch::block_number() * index_t{gather_threads} + threadIdx.x; at < all;
         at += index_t{gridDim.x} * gather_threads) {
        const index_t item = at / words;
        out[at] = in[static_cast<index_t>(index[item]) * words + (at - item * words)];
    }
}

/// Word `word` (8 bytes) of fixed strings of `bytes` bytes, as a number whose order is that of the
/// bytes. Without an index, of all strings in turn.
template <class Index>
__global__ void __launch_bounds__(gather_threads)
    gather_string_words(const unsigned char* in, index_t bytes, index_t word, const Index* index,
                        std::uint64_t* out, index_t items) {
    for (index_t item = arch::block_number() * index_t{gather_threads} + threadIdx.x; item < items;
         item += index_t{gridDim.x} * gather_threads) {
        const index_t row = index != nullptr ? static_cast<index_t>(index[item]) : item;
        const unsigned char* from = in + row * bytes;
        std::uint64_t number = 0;
        for (index_t byte = 8 * word; byte < 8 * word + 8; ++byte) {
            number = number << 8 | (byte < bytes ? from[byte] : 0U);
        }
        out[item] = number;
    }
}

/// The number of the segment of each item: segments [offsets[s], offsets[s + 1]), offsets[0] = 0,
/// offsets[segments] = items.
template <class Index>
__global__ void __launch_bounds__(gather_threads)
    number_segments(const std::int64_t* offsets, index_t segments, Index* numbers, index_t items) {
    for (index_t item = arch::block_number() * index_t{gather_threads} + threadIdx.x; item < items;
         item += index_t{gridDim.x} * gather_threads) {
        index_t low = 0;  // the last segment that begins at or before the item
        index_t high = segments;
        while (high - low > 1) {
            const index_t middle = low + (high - low) / 2;
            if (offsets[middle] <= item) {
                low = middle;
            } else {
                high = middle;
            }
        }
        numbers[item] = static_cast<Index>(low);
    }
}

/// Lowers *first to the first position whose index is outside [0, rows).
template <class Index>
__global__ void __launch_bounds__(gather_threads)
    find_outside(const Index* index, index_t items, std::uint64_t rows, std::uint64_t* first) {
    for (index_t item = arch::block_number() * index_t{gather_threads} + threadIdx.x; item < items;
         item += index_t{gridDim.x} * gather_threads) {
        // A negative number is a large one here.
        if (static_cast<std::uint64_t>(index[item]) >= rows) {
            arch::lower_to(first, static_cast<std::uint64_t>(item));
        }
    }
}

inline arch::grid gather_grid(index_t threads) {
    const index_t blocks = core::tile_shape{threads, gather_threads}.tiles();
    return {static_cast<unsigned>(blocks < most_gather_blocks ? blocks : most_gather_blocks),
            gather_threads};
}

/// out[i] = in[index[i]], items of sizeof(Word) * words bytes, aligned to Word.
template <class Word, class Index>
cudaError_t gather(const Word* in, const Index* index, Word* out, index_t items, index_t words,
                   cudaStream_t stream) {
    if (items <= 0) return cudaSuccess;
    return arch::launch(gather_items<Word, Index>, gather_grid(items * words), stream, in, index,
                        out, items, words);
}

}  // namespace lookback::device
