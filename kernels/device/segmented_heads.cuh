// Level L5 (device): the heads of segments of a tile as bytes in shared memory, and as bits in a
// lane. Bytes are stored without atomics: on an H200 that is 8-17 % faster than a mask of bits.
// Invariant: a byte is 0 or 1; `heads` is 16-byte aligned and has one byte for each item of a tile.
#pragma once

#include <lookback/kernels/arch/lane.cuh>
#include <lookback/kernels/core/lookback.hpp>

namespace lookback::device {

/// Four bytes of 0 or 1 to four bits: no two products meet.
__device__ __forceinline__ std::uint32_t four_heads(std::uint32_t bytes) {
    return bytes * 0x10204080U >> 28;
}

template <class P>
__device__ __forceinline__ void clear_heads(unsigned char* heads, int bytes) {
    auto* cells = reinterpret_cast<uint4*>(heads);
    for (int cell = static_cast<int>(threadIdx.x); cell < bytes / 16; cell += P::threads) {
        cells[cell] = uint4{0, 0, 0, 0};
    }
}

/// The heads of `Items` neighbouring items of a lane, a power of two.
template <int Items>
struct lane_heads {
    static constexpr int words = (Items + 31) / 32;
    std::uint32_t bits[words];
    std::uint32_t all;  ///< not 0: there is a head

    __device__ __forceinline__ void load(const unsigned char* heads) {
#pragma unroll
        for (std::uint32_t& word : bits) word = 0;
        all = 0;
        if constexpr (Items % 16 == 0) {
#pragma unroll
            for (int cell = 0; cell < Items / 16; ++cell) {
                const uint4 bytes = reinterpret_cast<const uint4*>(heads)[cell];
                const std::uint32_t four = four_heads(bytes.x) | four_heads(bytes.y) << 4 |
                                           four_heads(bytes.z) << 8 | four_heads(bytes.w) << 12;
                bits[cell / 2] |= four << (cell % 2 * 16);
                all |= bytes.x | bytes.y | bytes.z | bytes.w;  // fewer steps than from the bits
            }
        } else if constexpr (Items % 4 == 0) {
#pragma unroll
            for (int word = 0; word < Items / 4; ++word) {
                const std::uint32_t bytes = reinterpret_cast<const std::uint32_t*>(heads)[word];
                bits[0] |= four_heads(bytes) << 4 * word;
                all |= bytes;
            }
        } else {
#pragma unroll
            for (int item = 0; item < Items; ++item) bits[0] |= std::uint32_t{heads[item]} << item;
            all = bits[0];
        }
    }
    __device__ __forceinline__ bool at(int item) const {
        return (bits[item / 32] >> item % 32 & 1) != 0;
    }
    __device__ __forceinline__ bool any() const {
        return all != 0;
    }
};

/// Which lanes of a warp have a head.
struct warp_heads {
    std::uint32_t lanes;
    std::uint32_t below;  ///< lanes before this one

    __device__ static warp_heads of(bool head) {
        const std::uint32_t lanes = arch::ballot(head);
        return {lanes, lanes & ((1U << arch::lane()) - 1)};
    }
    /// The nearest lane with a head, this one included; lane 0 where there is none.
    __device__ int nearest() const {
        return core::highest_bit(below | (lanes & (1U << arch::lane())) | 1);
    }
};

}  // namespace lookback::device
