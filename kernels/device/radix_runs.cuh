// Level L5 (device): digits of keys, and how a tile that is staged by digit in shared memory is
// written out in runs. Invariant: the run of a digit is staged at slots congruent to its place in
// memory modulo the alignment, so that whole sectors are written.
#pragma once

#include <lookback/kernels/block/radix_rank.cuh>
#include <lookback/kernels/core/key_order.hpp>
#include <lookback/kernels/core/tile_shape.hpp>
#include <lookback/kernels/tuning/radix_sort.hpp>

namespace lookback::device {

using block::digits;
using core::index_t;
using tuning::no_value;

/// A value of 16 bytes, aligned as two words.
struct wide_value {
    std::uint64_t low;
    std::uint64_t high;
};

template <class Value>
inline constexpr bool has_value = !std::is_same_v<Value, no_value>;

/// Which bits of an ordered key a pass looks at.
template <class Key>
struct digit_place {
    core::key_order<Key> order;
    int shift;
    std::uint32_t mask;  ///< 255, or less for the last few bits

    __device__ __forceinline__ std::uint32_t operator()(Key key) const {
        return static_cast<std::uint32_t>(order(key) >> shift) & mask;
    }
    /// body(digit_of), whose calls digit_of(key) no longer ask what kind of keys there are.
    template <class Body>
    __device__ __forceinline__ void with_digits(Body body) const {
        if constexpr (sizeof(Key) > 1) {
            if (order.floating) {
                const core::float_order<Key> floats{order.mask, order.nan};
                body([this, floats](Key key) {
                    return static_cast<std::uint32_t>(floats(key) >> shift) & mask;
                });
                return;
            }
        }
        const auto flip = static_cast<std::uint32_t>(order.mask >> shift);
        body([this, flip](Key key) {
            return (static_cast<std::uint32_t>(key >> shift) ^ flip) & mask;
        });
    }
};

/// Where the runs of a tile lie in its slots and in the output.
struct tile_runs {
    index_t offsets[digits];  ///< place in the output of slot 0, if all slots were this digit's
    std::uint32_t extents[digits];  ///< the digit's first slot, and the one after its last << 16
    alignas(8) std::uint32_t counts[digits];
    std::uint32_t sums[digits / arch::warp_lanes];

    /// Whether a slot that holds a key of this digit belongs to the tile: between runs lies what
    /// was there before, and whatever its digit, it is outside of that digit's run.
    __device__ __forceinline__ bool holds(std::uint32_t slot, std::uint32_t digit) const {
        const std::uint32_t extent = extents[digit];
        return slot >= (extent & 0xffffU) && slot < extent >> 16;
    }
};

/// Lays the runs out; `counts` is filled and visible, thread d (< 256) passes where its digit's run
/// begins in the output, and gets its first slot. By all threads; a barrier must follow.
template <int Alignment>
__device__ __forceinline__ std::uint32_t lay_out_runs(tile_runs& runs, index_t run_begin) {
    const int digit = static_cast<int>(threadIdx.x);
    constexpr auto misfit = static_cast<std::uint32_t>(Alignment - 1);
    if (digit < digits) runs.offsets[digit] = run_begin;
    arch::sync_block();  // run_begin of the digit before is written
    std::uint32_t count = 0;
    std::uint32_t gap = 0;
    if (digit < digits) {
        count = runs.counts[digit];
        // The run before ends at its begin + count, modulo the alignment; this one at its own
        // begin.
        const int before = digit - 1;
        const std::uint32_t end_before =
            digit == 0 ? 0 : static_cast<std::uint32_t>(runs.offsets[before]) + runs.counts[before];
        gap = (static_cast<std::uint32_t>(run_begin) - end_before) & misfit;
    }
    const std::uint32_t first = gap + block::exclusive_digit_sum(gap + count, runs.sums);
    if (digit < digits) {
        runs.extents[digit] = first | (first + count) << 16;
        runs.offsets[digit] = run_begin - static_cast<index_t>(first);
    }
    return first;
}

}  // namespace lookback::device
