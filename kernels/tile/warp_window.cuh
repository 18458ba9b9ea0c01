// Level L4 (tile): the look-back window of a warp: one earlier tile a lane, 32 a poll.
// Invariant: implements the Window of core/lookback.hpp; all lanes call every function together
// and get the same answers. Combination is by Kogge-Stone steps from `first`, a fixed tree.
#pragma once

#include <lookback/kernels/core/lookback.hpp>
#include <lookback/kernels/warp/scan.cuh>

namespace lookback::tile {

template <class Codec, class Access>
class warp_window {
public:
    using codec = Codec;
    using access = Access;
    using value_type = typename Codec::value_type;
    static constexpr int width = warp::warp_lanes;

    /// Polls tiles [end - 32, end); those before tile 0 are left out of both masks.
    __device__ void load(core::slot_array slots, core::index_t end, std::uint32_t epoch) {
        const core::index_t tile = end - width + arch::lane();
        core::tile_message<value_type> message{core::tile_state::empty, {}};
        if (tile >= 0) message = core::poll<Codec, Access>(slots, tile, epoch);
        value_ = message.value;
        prefix_mask_ = arch::ballot(message.state == core::tile_state::prefix);
        empty_mask_ = arch::ballot(tile >= 0 && message.state == core::tile_state::empty);
    }
    __device__ std::uint32_t prefix_mask() const { return prefix_mask_; }
    __device__ std::uint32_t empty_mask() const { return empty_mask_; }

    /// op over the entries from `first` on, in order, in every lane.
    template <class Op>
    __device__ value_type reduce_from(int first, Op op) const {
        return arch::shuffle(warp::inclusive_scan(value_, op, first), width - 1);
    }

private:
    value_type value_;
    std::uint32_t prefix_mask_;
    std::uint32_t empty_mask_;
};

}  // namespace lookback::tile
