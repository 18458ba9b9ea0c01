// CUDA backend: sorts by one column of keys of a width, compiled in one file a width.
// Invariant: the bits of keys are moved as they are; the order is a run-time matter.
#pragma once

#include "cuda/gpu_device.hpp"

#include <lookback/kernels/core/key_order.hpp>

#include <cstddef>
#include <cstdint>

namespace lookback::cuda {

/// How a column sorts.
struct column_order {
    core::key_kind kind;
    bool descending;
    bool nan_first;
    int begin_bit;
    int end_bit;
};

/// A value of 16 bytes, aligned as two words.
struct value_of_16 {
    std::uint64_t low;
    std::uint64_t high;
};

/// Bits is uint8, uint16, uint32 or uint64. `other` buffers have the size of what they stand
/// beside.
template <class Bits>
struct radix_column {
    static void keys(gpu_device& gpu, Bits* keys, Bits* other, std::size_t n,
                     const column_order& order);
    /// Value is uint32, uint64 or value_of_16.
    template <class Value>
    static void pairs(gpu_device& gpu, Bits* keys, Bits* other, Value* values, Value* other_values,
                      std::size_t n, const column_order& order);
    /// Index is uint32 or uint64; keys are only read.
    template <class Index>
    static void argsort(gpu_device& gpu, const Bits* keys, Bits* first, Bits* second, Index* index,
                        Index* other_index, std::size_t n, const column_order& order);
    /// Sorts keys as well.
    template <class Index>
    static void with_index(gpu_device& gpu, Bits* keys, Bits* other, Index* index,
                           Index* other_index, std::size_t n, const column_order& order);
};

}  // namespace lookback::cuda
