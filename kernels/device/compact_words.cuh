// Level L5 (device): rows of any size moved word by word, by the marks of a compaction.
// Invariant: a block moves the rows of one chunk of tuning::offset_rows, whose kept ones it lists
// in shared memory; nothing is staged, so the output must not overlap the input.
#pragma once

#include <lookback/kernels/block/scan.cuh>
#include <lookback/kernels/device/compact_kernel.cuh>

namespace lookback::device {

/// A column of rows of `words` Words each, aligned to Word.
template <class Word>
struct wide_rows {
    const Word* in;
    Word* kept;  ///< null: not wanted
    Word* rest;
    index_t words;
    index_t items;
    index_t kept_room;
    index_t rest_room;
};

inline constexpr int wide_threads = 256;

/// Lists the places whose bit in `bits` (8 rows of thread t: 8 t, 8 t + 1, ...) is set; returns
/// their number. Ends in a barrier.
__device__ __forceinline__ int list_places(std::uint32_t bits, std::uint32_t* scan_space,
                                           std::uint16_t* places) {
    using scan = block::kogge_stone<wide_threads>;
    const auto own = static_cast<std::uint32_t>(arch::bit_count(bits));
    const std::uint32_t up_to = scan::inclusive_scan(own, scan_space, core::plus{});
    std::uint32_t at = up_to - own;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        if ((bits >> i & 1) != 0) places[at++] = static_cast<std::uint16_t>(8 * threadIdx.x + i);
    }
    if (threadIdx.x == wide_threads - 1) scan_space[0] = up_to;
    __syncthreads();  // places and their number are written
    return static_cast<int>(scan_space[0]);
}

/// to[0 ...] = the rows at from[places[0 ...]].
template <class Word>
__device__ __forceinline__ void move_places(const Word* from, Word* to, index_t words,
                                            const std::uint16_t* places, int count) {
    const index_t all = count * words;
    // Rows that fill the block or more: a row at a time.
    if (words >= wide_threads) {
        for (int row = 0; row < count; ++row) {
            const Word* const source = from + places[row] * words;
            for (index_t word = threadIdx.x; word < words; word += wide_threads) {
                to[row * words + word] = source[word];
            }
        }
        return;
    }
    // All of the chunk's words have numbers below 2^19, and width * 2^19 < 2^32: the product with
    // the rounded-up reciprocal gives the row exactly.
    const auto width = static_cast<std::uint32_t>(words);
    const std::uint32_t reciprocal = width == 1 ? 0 : ~std::uint32_t{0} / width + 1;
    constexpr int batch = 8;
    for (std::uint32_t first = threadIdx.x; first < static_cast<std::uint32_t>(all);
         first += batch * wide_threads) {
        Word batched[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const std::uint32_t at = first + i * wide_threads;
            const std::uint32_t row = width == 1 ? at : arch::high_product(at, reciprocal);
            if (at < static_cast<std::uint32_t>(all)) {
                batched[i] = from[places[row] * width + (at - row * width)];
            }
        }
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const std::uint32_t at = first + i * wide_threads;
            if (at < static_cast<std::uint32_t>(all)) to[at] = batched[i];
        }
    }
}

template <class Word>
__global__ void __launch_bounds__(wide_threads, 6)
    move_wide_rows(const wide_rows<Word> rows, const std::uint32_t* marks, const index_t* offsets) {
    static_assert(tuning::offset_rows == 8 * wide_threads);
    __shared__ std::uint32_t scan_space[wide_threads];
    __shared__ std::uint16_t places[tuning::offset_rows];
    const index_t chunk = arch::block_number();
    const index_t begin = chunk * tuning::offset_rows;
    const index_t left = rows.items - begin - 8 * static_cast<index_t>(threadIdx.x);
    const std::uint32_t there = left >= 8 ? 0xffU : left <= 0 ? 0U : (1U << left) - 1;
    std::uint32_t bits = 0;
    if (left > 0) {
        bits = marks[begin / 32 + threadIdx.x / 4] >> (threadIdx.x % 4 * 8) & there;
    }
    const index_t before = offsets[chunk];
    const Word* from = rows.in + begin * rows.words;
    const auto move = [&](Word* to, std::uint32_t chosen, index_t first, index_t room) {
        int count = list_places(chosen, scan_space, places);
        if (room - first < count) count = room > first ? static_cast<int>(room - first) : 0;
        move_places(from, to + first * rows.words, rows.words, places, count);
    };
    if (rows.kept != nullptr) move(rows.kept, bits, before, rows.kept_room);
    if (rows.rest == nullptr) return;
    __syncthreads();  // the list of the rows that pass is read
    move(rows.rest, ~bits & there, begin - before, rows.rest_room);
}

/// Moves a column by the bits and offsets that a compaction of marks_alone wrote. Traffic: the
/// bits, the sectors that hold wanted rows, and one write of each of those.
template <class Word>
cudaError_t move_wide(const wide_rows<Word>& rows, const std::uint32_t* marks,
                      const index_t* offsets, cudaStream_t stream) {
    if (rows.items <= 0) return cudaSuccess;
    const core::tile_shape shape{rows.items, tuning::offset_rows};
    return arch::launch(move_wide_rows<Word>, {static_cast<unsigned>(shape.tiles()), wide_threads},
                        stream, rows, marks, offsets);
}

}  // namespace lookback::device
