#include "cpu/row_marks.hpp"

#include "cpu/compact_lanes.hpp"
#include "item_list.hpp"

#include <lookback/kernels/core/tile_shape.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace lookback::cpu {
namespace {

// Rows that are marked between two checks of the loop around them.
constexpr std::size_t marked_rows = 1024;
constexpr std::size_t marked_words = marked_rows / 64;

}  // namespace

void complement(std::uint64_t* words, std::size_t rows) {
    for (std::size_t w = 0; w < words_of(rows); ++w) words[w] = ~words[w];
    if (rows % 64 != 0) words[rows / 64] &= (std::uint64_t{1} << rows % 64) - 1;
}

block_marker marker_of(const row_flags& flags) {
    const compact_lanes lanes = find_compact_lanes();
    return [&flags, lanes](std::size_t first, std::size_t rows, std::uint64_t* words) {
        switch (flags.from) {
            case row_flags::source::bytes:
                lanes.bits_from_bytes(static_cast<const std::uint8_t*>(flags.data) + first, rows,
                                      words);
                break;
            case row_flags::source::bits:
                std::copy_n(static_cast<const std::uint64_t*>(flags.data) + first / 64,
                            words_of(rows), words);
                if (rows % 64 != 0) words[rows / 64] &= (std::uint64_t{1} << rows % 64) - 1;
                break;
            case row_flags::source::computed:
                flags.mark(first, rows, words);
                break;
        }
        if (flags.inverted) complement(words, rows);
    };
}

template <class T>
block_marker compare_marker(const T* in, comparison op, T value) {
    auto found = mark_comparison::equal;
    bool inverse = false;
    switch (op) {
        case comparison::less:
            found = mark_comparison::less;
            break;
        case comparison::greater:
            found = mark_comparison::greater;
            break;
        case comparison::equal:
            break;
        case comparison::not_equal:
            inverse = true;
            break;
        // Integers have no NaN: the complement of the opposite.
        case comparison::less_equal:
            inverse = !std::is_floating_point_v<T>;
            found = inverse ? mark_comparison::greater : mark_comparison::less_equal;
            break;
        case comparison::greater_equal:
            inverse = !std::is_floating_point_v<T>;
            found = inverse ? mark_comparison::less : mark_comparison::greater_equal;
            break;
    }
    const auto compare = find_mark_compare<T>(found);
    return [=](std::size_t first, std::size_t rows, std::uint64_t* words) {
        compare(in + first, rows, value, words);
        if (inverse) complement(words, rows);
    };
}

template <class T>
block_marker heads_marker(const T* in) {
    const auto heads = find_mark_heads<T>();
    return [=](std::size_t first, std::size_t rows, std::uint64_t* words) {
        if (first != 0) return heads(in + first, rows, words);
        // Nothing stands before the first item: one word by hand, then as everywhere.
        const std::size_t begin = std::min<std::size_t>(64, rows);
        std::uint64_t others = 0;
        if (begin > 1) heads(in + 1, begin - 1, &others);
        words[0] = others << 1 | 1U;
        if (rows > begin) heads(in + begin, rows - begin, words + 1);
    };
}

void bytes_of(executor& threads, std::size_t rows, const block_marker& mark, std::uint8_t* flags) {
    const core::tile_shape shape{static_cast<core::index_t>(rows), marked_rows * 64};
    threads.for_each(static_cast<std::size_t>(shape.tiles()), [&](std::size_t tile) {
        const auto begin = static_cast<std::size_t>(shape.begin(static_cast<core::index_t>(tile)));
        const auto end =
            begin + static_cast<std::size_t>(shape.size(static_cast<core::index_t>(tile)));
        std::uint64_t words[marked_words];
        for (std::size_t first = begin; first < end; first += marked_rows) {
            const std::size_t count = std::min(marked_rows, end - first);
            mark(first, count, words);
            for (std::size_t i = 0; i < count; ++i) flags[first + i] = words[i / 64] >> i % 64 & 1U;
        }
    });
}

void scatter(executor& threads, std::span<const std::uint8_t> flags, const std::int64_t* offsets,
             const std::byte* in, std::size_t row_bytes, std::byte* out) {
    const core::tile_shape shape{static_cast<core::index_t>(flags.size()), marked_rows * 64};
    threads.for_each(static_cast<std::size_t>(shape.tiles()), [&](std::size_t tile) {
        const auto begin = static_cast<std::size_t>(shape.begin(static_cast<core::index_t>(tile)));
        const auto end =
            begin + static_cast<std::size_t>(shape.size(static_cast<core::index_t>(tile)));
        for (std::size_t i = begin; i < end; ++i) {
            if (flags[i] == 0) continue;
            std::memcpy(out + static_cast<std::size_t>(offsets[i]) * row_bytes, in + i * row_bytes,
                        row_bytes);
        }
    });
}

#define LOOKBACK_MARKABLE(T)                                       \
    template block_marker compare_marker(const T*, comparison, T); \
    template block_marker heads_marker(const T*)

LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_MARKABLE);
#undef LOOKBACK_MARKABLE

}  // namespace lookback::cpu
