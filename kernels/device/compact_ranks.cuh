// Level L5 (device): the marks of one tile of a compaction, where each of its rows goes, and how
// staged rows are written out. Invariant: a warp holds `rows` consecutive rows of 32 lanes, each
// lane `items` neighbouring items; marks of items that do not exist are 0. Source: Billeter,
// Olsson, Assarsson, "Efficient stream compaction" (2009).
#pragma once

#include <lookback/kernels/arch/atomics.cuh>
#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/core/tile_shape.hpp>
#include <lookback/kernels/device/compact_marks.cuh>
#include <lookback/kernels/tuning/compact.hpp>
#include <lookback/kernels/warp/scan.cuh>

namespace lookback::device {

template <class P, int Items>
struct compact_geometry {
    static constexpr int items = Items;
    static constexpr int row_items = arch::warp_lanes * Items;
    static constexpr int warp_items = P::rows * row_items;
    static constexpr int tile_items = P::warps * warp_items;

    /// The first item of the lane in a row of a warp, inside the tile.
    __device__ __forceinline__ static int first(int warp, int row) {
        return warp * warp_items + row * row_items + arch::lane() * Items;
    }
};

/// The marks of a lane's items, and their ranks.
template <class P, int Items>
class lane_marks {
public:
    /// `left`: items of the lane in this row that exist, or less than 0, or more than Items.
    __device__ __forceinline__ void set(int row, std::uint32_t bits, int left) {
        constexpr std::uint32_t all = Items == 32 ? ~0U : (1U << Items % 32) - 1;
        std::uint32_t there = all;
        if (left < Items) there = left <= 0 ? 0 : all >> (Items - left);
        bits &= there;
        std::uint32_t& word = bits_[row / rows_per_word];
        word = row % rows_per_word == 0 ? bits : word | bits << row % rows_per_word * Items;
    }
    __device__ __forceinline__ std::uint32_t row(int row) const {
        constexpr std::uint32_t all = Items == 32 ? ~0U : (1U << Items % 32) - 1;
        return bits_[row / rows_per_word] >> row % rows_per_word * Items & all;
    }
    /// Those of the warp, in every lane.
    __device__ __forceinline__ std::uint32_t warp_total() const {
        int total = 0;
#pragma unroll
        for (const std::uint32_t word : bits_) total += arch::bit_count(word);
        return arch::sum(static_cast<std::uint32_t>(total));
    }

    /// visit(row, bits, rank) for each row of the lane: `rank` marked items of the tile precede the
    /// lane's first, where `base` precede the warp's. Counts of several rows share a word: one warp
    /// scan of four rows where lanes hold few items.
    template <class Visit>
    __device__ __forceinline__ void for_rows(int base, Visit visit) const {
#pragma unroll
        for (int first = 0; first < P::rows; first += counts_per_word) {
            std::uint32_t counts = 0;
#pragma unroll
            for (int i = 0; i < counts_per_word && first + i < P::rows; ++i) {
                counts |= static_cast<std::uint32_t>(arch::bit_count(row(first + i)))
                          << i * count_bits;
            }
            const std::uint32_t up_to = warp::inclusive_scan(counts, core::plus{});
            const std::uint32_t totals = arch::shuffle(up_to, arch::warp_lanes - 1);
            const std::uint32_t before = up_to - counts;
#pragma unroll
            for (int i = 0; i < counts_per_word && first + i < P::rows; ++i) {
                constexpr std::uint32_t ones = (1U << count_bits) - 1;
                visit(first + i, row(first + i),
                      base + static_cast<int>(before >> i * count_bits & ones));
                base += static_cast<int>(totals >> i * count_bits & ones);
            }
        }
    }

private:
    static constexpr int rows_per_word = 32 / Items;
    /// A row holds up to 32 Items, which must not reach the next count.
    static constexpr int count_bits = Items <= 4 ? 8 : 16;
    static constexpr int counts_per_word = 32 / count_bits;

    std::uint32_t bits_[core::ceil_div(P::rows, rows_per_word)];
};

/// to[i] = item_at(i) for i < count, by a whole block; every warp writes whole lines of 128 bytes.
template <int Threads, class Item, class ItemAt>
__device__ __forceinline__ void write_lines(int count, Item* to, ItemAt item_at) {
    constexpr int line_items = 128 / static_cast<int>(sizeof(Item));
    const auto skew =
        static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(Item) % line_items);
    int at = static_cast<int>(threadIdx.x) - skew;
    if (at >= 0 && at < count) to[at] = item_at(at);
#pragma unroll 4
    for (at += Threads; at < count; at += Threads) to[at] = item_at(at);
}

/// to[0, count) = staged[begin, begin + count) for items of less than a word: by words, but for the
/// ends, which other tiles share. `staged` is 16-byte aligned, and the word behind its last item
/// may be read.
template <int Threads, class Item>
__device__ __forceinline__ void copy_small_items(const Item* staged, int begin, int count,
                                                 Item* to) {
    constexpr int bytes = static_cast<int>(sizeof(Item));
    constexpr int per_word = 4 / bytes;
    const auto past =
        static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(Item) % per_word);
    int head = past == 0 ? 0 : per_word - past;
    if (head > count) head = count;
    const int words = (count - head) / per_word;
    const int tail = count - head - words * per_word;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < head) to[thread] = staged[begin + thread];
    if (thread < tail) to[count - tail + thread] = staged[begin + count - tail + thread];
    begin += head;
    const auto* from = reinterpret_cast<const std::uint32_t*>(staged) + begin / per_word;
    auto* target = reinterpret_cast<std::uint32_t*>(to + head);
    const auto shift = static_cast<std::uint32_t>(8 * bytes * (begin % per_word));
    write_lines<Threads>(words, target,
                         [=](int at) { return arch::funnel_right(from[at], from[at + 1], shift); });
}

/// to[0, count) = staged[begin, begin + count).
template <int Threads, class Item>
__device__ __forceinline__ void copy_staged(const Item* staged, int begin, int count, Item* to) {
    if constexpr (sizeof(Item) < 4) {
        copy_small_items<Threads>(staged, begin, count, to);
    } else {
        write_lines<Threads>(count, to, [=](int at) { return staged[begin + at]; });
    }
}

}  // namespace lookback::device
