// Level L5 (device): compaction by stages, each an array of its own: flags, offsets, scatter. For
// teaching and for comparison: it reads and writes several times as much as compact.cuh.
// Invariant: a stage depends on the arrays of the one before alone.
// Source: Blelloch, "Prefix sums and their applications" (1990), 1.3.
#pragma once

#include <lookback/kernels/device/compact_marks.cuh>
#include <lookback/kernels/device/gather.cuh>

namespace lookback::device {

/// flags[i] = whether the source marks row i, as 0 or 1; `keep` flags that are set stay set.
template <class Bits, class Source>
__global__ void __launch_bounds__(gather_threads)
    mark_bytes(const Bits* in, index_t items, Source source, std::uint32_t invert, bool keep,
               std::uint8_t* flags) {
    using vector = tile::lane_vector<Bits>;
    const index_t step = index_t{gridDim.x} * gather_threads * vector::items;
    const index_t end = core::tile_shape{items, vector::items * arch::warp_lanes}.tiles() *
                        (vector::items * arch::warp_lanes);
    // Whole warps take every turn: sources ask their neighbours.
    for (index_t at =
             (arch::block_number() * index_t{gather_threads} + threadIdx.x) * vector::items;
         at < end; at += step) {
        const int left = at + vector::items <= items ? vector::items : static_cast<int>(items - at);
        vector rows{};
        if (left >= vector::items && reinterpret_cast<std::uintptr_t>(in) % 16 == 0) {
            rows.load(in + at);
        } else if (left > 0) {
            rows = tile::load_items(in + at, left);
        }
        std::uint32_t bits;
        if constexpr (requires { source.marks(lane_place{}, rows, &rows); }) {
            bits = source.marks({at, left}, rows, nullptr);
        } else {
            bits = source.marks({at, left}, rows);
        }
        bits ^= invert;
#pragma unroll
        for (int i = 0; i < vector::items; ++i) {
            const auto flag = static_cast<std::uint8_t>(bits >> i & 1);
            if (i < left && (flag != 0 || !keep)) flags[at + i] = flag;
        }
    }
}

/// The same for fixed strings of `bytes` bytes that differ from the one before; the first does.
__global__ inline void __launch_bounds__(gather_threads)
    mark_strings(const unsigned char* in, index_t bytes, index_t items, bool keep,
                 std::uint8_t* flags) {
    for (index_t at = arch::block_number() * index_t{gather_threads} + threadIdx.x; at < items;
         at += index_t{gridDim.x} * gather_threads) {
        bool differs = at == 0;
        const unsigned char* own = in + at * bytes;
        for (index_t byte = 0; byte < bytes && !differs; ++byte) {
            differs = own[byte] != own[byte - bytes];
        }
        if (differs || !keep) flags[at] = differs ? 1 : 0;
    }
}

/// Flags as numbers to be added up.
template <class Number>
__global__ void __launch_bounds__(gather_threads)
    widen_flags(const std::uint8_t* flags, Number* numbers, index_t items) {
    for (index_t at = arch::block_number() * index_t{gather_threads} + threadIdx.x; at < items;
         at += index_t{gridDim.x} * gather_threads) {
        numbers[at] = flags[at] != 0 ? 1 : 0;
    }
}

/// out[offsets[i]] = in[i] for rows of `words` Words whose flag is set; a thread a word.
template <class Word>
__global__ void __launch_bounds__(gather_threads)
    scatter_rows(const std::uint8_t* flags, const index_t* offsets, const Word* in, Word* out,
                 index_t items, index_t words) {
    const index_t all = items * words;
    for (index_t at = arch::block_number() * index_t{gather_threads} + threadIdx.x; at < all;
         at += index_t{gridDim.x} * gather_threads) {
        const index_t item = words == 1 ? at : at / words;
        if (flags[item] != 0) out[offsets[item] * words + (at - item * words)] = in[at];
    }
}

/// Lowers *first to the first flagged row whose offset is outside [0, rows).
__global__ inline void __launch_bounds__(gather_threads)
    find_flagged_outside(const std::uint8_t* flags, const index_t* offsets, index_t items,
                         std::uint64_t rows, std::uint64_t* first) {
    for (index_t at = arch::block_number() * index_t{gather_threads} + threadIdx.x; at < items;
         at += index_t{gridDim.x} * gather_threads) {
        // A negative offset is a large one here.
        if (flags[at] != 0 && static_cast<std::uint64_t>(offsets[at]) >= rows) {
            arch::lower_to(first, static_cast<std::uint64_t>(at));
        }
    }
}

template <class Bits, class Source>
cudaError_t mark_rows_as_bytes(const Bits* in, index_t items, const Source& source, bool inverted,
                               bool keep, std::uint8_t* flags, cudaStream_t stream) {
    if (items <= 0) return cudaSuccess;
    const index_t vectors = core::tile_shape{items, tile::lane_vector<Bits>::items}.tiles();
    return arch::launch(mark_bytes<Bits, Source>, gather_grid(vectors), stream, in, items, source,
                        inverted ? ~std::uint32_t{0} : std::uint32_t{0}, keep, flags);
}

inline cudaError_t mark_string_heads(const unsigned char* in, index_t bytes, index_t items,
                                     bool keep, std::uint8_t* flags, cudaStream_t stream) {
    if (items <= 0) return cudaSuccess;
    return arch::launch(mark_strings, gather_grid(items), stream, in, bytes, items, keep, flags);
}

}  // namespace lookback::device
