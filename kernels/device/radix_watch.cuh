// Level L5 (device): whether keys are in order already, as seen by those who read them anyway.
// Invariant: order is that of the bits that the sort looks at.
#pragma once

#include <lookback/kernels/device/radix_plan.cuh>

namespace lookback::device {

/// Whether neighbours are in order, as far as one thread saw.
struct order_watch {
    bool descends = false;
    bool not_falls = false;

    template <class Key>
    __device__ __forceinline__ void see(Key earlier, Key later) {
        descends = descends || later < earlier;
        not_falls = not_falls || later >= earlier;
    }
    /// Whether the warp has anything left to find out; all lanes.
    __device__ __forceinline__ bool is_open() const {
        return arch::ballot(descends) == 0 || arch::ballot(not_falls) == 0;
    }
};

/// What a warp saw, for the plan; all lanes.
__device__ __forceinline__ void tell(const order_watch& watch, radix_header& header) {
    const bool any_descends = arch::ballot(watch.descends) != 0;
    const bool any_not_falls = arch::ballot(watch.not_falls) != 0;
    if (arch::lane() == 0) {
        if (any_descends) arch::exchange(&header.descends, 1);
        if (any_not_falls) arch::exchange(&header.not_falls, 1);
    }
}

/// The part of an ordered key that the sort looks at, as a number.
template <class Key>
__device__ __forceinline__ Key looked_at(const radix_shape& shape, Key ordered) {
    constexpr int width = 8 * static_cast<int>(sizeof(Key));
    const int above = width - shape.end_bit;
    return static_cast<Key>(static_cast<Key>(ordered << above) >> (above + shape.begin_bit));
}

}  // namespace lookback::device
