// CUDA backend: compactions whose kernels see items of a width, compiled in one file a width.
// Invariant: the bits of items are moved as they are; the order is a run-time matter.
#pragma once

#include "cuda/gpu_device.hpp"

#include <lookback/kernels/core/key_order.hpp>
#include <lookback/kernels/core/platform.hpp>

#include <cstddef>
#include <cstdint>

namespace lookback::cuda {

using core::index_t;

/// The items whose number under the order lies in [low, low + span], or the others.
template <class Bits>
struct item_range {
    core::key_order<Bits> order;
    Bits low;
    Bits span;
    bool inverted;
};

/// Where items go: the first `room` of those that pass; `count` is device memory.
template <class Bits>
struct compact_items {
    const Bits* in;
    index_t items;
    Bits* out;
    index_t room;
    index_t* count;
};

/// Bits is uint8, uint16, uint32 or uint64.
template <class Bits>
struct compact_column {
    static void in_range(gpu_device& gpu, const compact_items<Bits>& items,
                         const item_range<Bits>& range);
    static void unique(gpu_device& gpu, const compact_items<Bits>& items,
                       const core::key_order<Bits>& order);
    static void mark_range(gpu_device& gpu, const Bits* in, index_t items,
                           const item_range<Bits>& range, std::uint8_t* flags);
    /// Flags of rows that differ from the one before; with `keep`, flags that are set stay set.
    static void mark_heads(gpu_device& gpu, const Bits* in, index_t items,
                           const core::key_order<Bits>& order, bool keep, std::uint8_t* flags);
};

/// A column of rows that move by flags or by marks.
struct flat_column {
    const void* in;
    std::size_t row_bytes;  ///< 1, 2, 4, 8 or 16, to which all pointers are aligned
    void* kept;
    void* rest;
    index_t items;
    index_t kept_room;
    index_t rest_room;
    index_t* count;  ///< device memory, or null
};

/// Flags of a row_flags in device memory.
struct flags_in_memory {
    const void* data;
    bool bits;
    bool inverted;
};

/// In place where kept is in.
void compact_flat(gpu_device& gpu, const flat_column& column, const flags_in_memory& flags);
/// By bits and offsets, one for tuning::offset_rows rows; not in place.
void move_flat(gpu_device& gpu, const flat_column& column, const std::uint32_t* words,
               const index_t* offsets);

}  // namespace lookback::cuda
