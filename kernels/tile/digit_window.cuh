// Level L4 (tile): how many items of each digit all earlier tiles hold, by decoupled look-back, two
// digits a thread. Invariant: tiles are taken by ticket, so every earlier tile is running.
// Source: Adinets and Merrill, "Onesweep" (2022), 3; Merrill and Garland (2016), 4.
#pragma once

#include <lookback/kernels/core/digit_word.hpp>
#include <lookback/kernels/core/lookback.hpp>
#include <lookback/kernels/tile/access.cuh>

namespace lookback::tile {

/// Tiles that a thread looks at in one poll. On an H200 a sort of 2^28 pairs of u32 took 7.8 ms
/// with eight, 7.14 with four, 7.02 with two: a wider window reads more than is needed.
inline constexpr int digit_window_tiles = 2;

/// Publishes the tile's counts of two digits at once.
__device__ __forceinline__ void publish_digits(core::slot_array slots, core::index_t tile,
                                               std::uint32_t turn, core::digit_pair counts) {
    const auto state = tile == 0 ? core::tile_state::prefix : core::tile_state::aggregate;
    core::publish<core::digit_pair_codec, device_access>(slots, tile, turn, state, counts);
}

/// What all earlier tiles hold of the two digits; tells later tiles. After publish_digits().
__device__ __forceinline__ core::digit_pair digits_before(core::slot_array slots,
                                                          core::index_t tile, std::uint32_t turn,
                                                          core::digit_pair counts) {
    using window = core::serial_window<core::digit_pair_codec, device_access, digit_window_tiles>;
    if (tile == 0) return {0, 0};
    core::patient_waiter waiter;
    const core::digit_pair before =
        core::exclusive_prefix<window>(slots, tile, turn, core::plus_pair{}, waiter);
    core::publish<core::digit_pair_codec, device_access>(
        slots, tile, turn, core::tile_state::prefix, core::plus_pair{}(before, counts));
    return before;
}

}  // namespace lookback::tile
