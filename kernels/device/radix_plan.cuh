// Level L5 (device): what a radix sort decides on the device once it has counted all digits: which
// passes run, from where to where, and what is left to do afterwards.
// Invariant: decided by the last block of the histogram and only read after it; the host never
// asks.
#pragma once

#include <lookback/kernels/arch/memory.cuh>
#include <lookback/kernels/device/radix_tile.cuh>

namespace lookback::device {

/// Digits of the widest key.
inline constexpr int most_places = 8;

enum class finish_action : std::uint32_t {
    none,
    copy,           ///< the result lies in the other buffers
    reverse,        ///< keys fall strictly: turn keys and values round
    ascending,      ///< index of sorted keys: 0, 1, 2, ...
    falling_index,  ///< index of strictly falling keys: n - 1, n - 2, ...
};

struct radix_plan {
    std::int32_t order[most_places];  ///< the how-manieth pass this place is, or -1: not needed
    std::int32_t passes;
    finish_action finish;
};

/// The words at the head of a workspace. All zero when made; each sort leaves what it counts in
/// zero.
struct radix_header {
    std::uint64_t histogram[most_places][digits];
    std::uint64_t descends;    ///< not 0: a key is less than the one before it
    std::uint64_t not_falls;   ///< not 0: a key is not less than the one before it
    std::uint64_t ambiguous;   ///< not 0: keys that are equal may differ
    std::uint64_t identical;   ///< not 0: the buckets' histogram found none, in this sort
    std::uint64_t by_buckets;  ///< not 0: buckets are even enough to be sorted by a block each
    std::uint64_t by_passes;  ///< not 0: they are not, or keys must stay in order: passes by digits
    std::uint64_t arrived;    ///< blocks of the histogram that are done
    radix_plan plan;
    radix_plan top_plan;  ///< of the passes before buckets are sorted by a block each
};

/// What the host tells every kernel of a sort.
struct radix_shape {
    index_t items;
    int places;
    int begin_bit;
    int end_bit;
    bool in_place;     ///< sorted keys are wanted where the input is; else they are not wanted
    bool makes_index;  ///< values are positions

    /// Where a place's digit is.
    LOOKBACK_HD int shift(int place) const { return begin_bit + place * block::digit_bits; }
    LOOKBACK_HD std::uint32_t digit_mask(int place) const {
        const int width = end_bit - shift(place);
        return width < block::digit_bits ? (1U << width) - 1 : digits - 1U;
    }
};

/// Parts of a workspace.
struct radix_words {
    radix_header* header;
    std::uint64_t* tickets;  ///< one a place and portion
    index_t* bases;        ///< [place][portion][digit]: where the digit's items of a portion begin
    std::uint64_t* tiles;  ///< digit pairs of each tile of a portion
    index_t portions;
    index_t tile_words;

    __device__ std::uint64_t* ticket(int place, index_t portion) const {
        return tickets + place * portions + portion;
    }
    __device__ index_t* base(int place, index_t portion) const {
        return bases + (place * portions + portion) * digits;
    }
};

/// By one block of at least 256 threads, after all counts are in.
__device__ __forceinline__ void make_plan(const radix_shape& shape, const radix_words& words,
                                          std::uint32_t* shared_flags) {
    radix_header& header = *words.header;
    const int digit = static_cast<int>(threadIdx.x);
    if (digit < most_places) shared_flags[digit] = 0;
    __shared__ index_t totals[digits / arch::warp_lanes];
    arch::sync_block();  // flags are clear
    for (int place = 0; place < shape.places; ++place) {
        index_t count = 0;
        if (digit < digits) {
            count = static_cast<index_t>(arch::load_relaxed(&header.histogram[place][digit]));
            header.histogram[place][digit] = 0;
            if (count == shape.items) shared_flags[place] = 1;
        }
        const auto plus = [](index_t a, index_t b) { return a + b; };
        const index_t up_to = warp::inclusive_scan(count, plus);
        const int warp = arch::warp();
        if (digit < digits && arch::lane() == arch::warp_lanes - 1) totals[warp] = up_to;
        arch::sync_block();  // totals and the flag are written
        index_t base = up_to - count;
        for (int earlier = 0; earlier < digits / arch::warp_lanes; ++earlier) {
            if (earlier < warp) base += totals[earlier];
        }
        if (digit < digits) words.base(place, 0)[digit] = base;
        arch::sync_block();  // totals are read
    }
    for (index_t i = digit; i < shape.places * words.portions; i += blockDim.x)
        words.tickets[i] = 0;
    if (digit != 0) return;
    const bool sorted = arch::load_relaxed(&header.descends) == 0;
    const bool falls = !sorted && arch::load_relaxed(&header.not_falls) == 0;
    radix_plan& plan = header.plan;
    plan.passes = 0;
    for (int place = 0; place < shape.places; ++place) {
        const bool needed = !sorted && !falls && shared_flags[place] == 0;
        plan.order[place] = needed ? plan.passes++ : -1;
    }
    plan.finish = finish_action::none;
    if (falls) {
        plan.finish = shape.in_place ? finish_action::reverse : finish_action::falling_index;
    } else if (plan.passes == 0) {
        if (shape.makes_index) plan.finish = finish_action::ascending;
    } else if (shape.in_place && plan.passes % 2 == 1) {
        plan.finish = finish_action::copy;
    }
    header.descends = 0;
    header.not_falls = 0;
    header.arrived = 0;
}

}  // namespace lookback::device
