// CUDA backend: the compactions of compact_column.hpp. Included by one file an item width, so that
// no file compiles for long.
#pragma once

#include "cuda/compact_column.hpp"
#include "cuda/cuda_check.hpp"

#include <lookback/kernels/device/compact.cuh>
#include <lookback/kernels/device/compact_staged.cuh>

namespace lookback::cuda {

namespace kernels = lookback::device;  // `device` alone is the class of backend.hpp here

inline kernels::scan_workspace compact_workspace(gpu_device& gpu, index_t items) {
    const auto memory = gpu.workspace(kernels::compact_workspace_bytes(items));
    return {memory.memory, memory.bytes, nullptr};
}

template <class Bits, class Source>
void compact_by(gpu_device& gpu, const compact_items<Bits>& items, bool inverted,
                const Source& source) {
    const kernels::compact_request<kernels::moved_items<Bits>> request{
        .rows = {items.in, items.out, nullptr},
        .items = items.items,
        .count = items.count,
        .kept_room = items.room,
        .inverted = inverted,
        .in_place = items.in == items.out};
    cuda_check(
        kernels::compact(compact_workspace(gpu, items.items), request, source, gpu.native_stream()),
        "launch a compaction");
}

template <class Bits>
void compact_column<Bits>::in_range(gpu_device& gpu, const compact_items<Bits>& items,
                                    const item_range<Bits>& range) {
    compact_by(gpu, items, range.inverted,
               kernels::rows_in_range<Bits>{range.order, range.low, range.span});
}

template <class Bits>
void compact_column<Bits>::unique(gpu_device& gpu, const compact_items<Bits>& items,
                                  const core::key_order<Bits>& order) {
    compact_by(gpu, items, false, kernels::rows_that_differ<Bits>{order, items.in});
}

template <class Bits>
void compact_column<Bits>::mark_range(gpu_device& gpu, const Bits* in, index_t items,
                                      const item_range<Bits>& range, std::uint8_t* flags) {
    cuda_check(kernels::mark_rows_as_bytes(
                   in, items, kernels::rows_in_range<Bits>{range.order, range.low, range.span},
                   range.inverted, false, flags, gpu.native_stream()),
               "launch the marking of items");
}

template <class Bits>
void compact_column<Bits>::mark_heads(gpu_device& gpu, const Bits* in, index_t items,
                                      const core::key_order<Bits>& order, bool keep,
                                      std::uint8_t* flags) {
    cuda_check(kernels::mark_rows_as_bytes(in, items, kernels::rows_that_differ<Bits>{order, in},
                                           false, keep, flags, gpu.native_stream()),
               "launch the marking of rows");
}

}  // namespace lookback::cuda
