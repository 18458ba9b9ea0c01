// CUDA backend: radix_column.hpp over the kernels. Included by one file a width.
#pragma once

#include "cuda/cuda_check.hpp"
#include "cuda/radix_column.hpp"

#include <lookback/kernels/device/radix_sort.cuh>

namespace lookback::cuda {

namespace kernels = lookback::device;  // `device` alone is the class of backend.hpp here

template <class Bits>
kernels::radix_order<Bits> radix_order_of(const column_order& order) {
    return {core::make_key_order<Bits>(order.kind, order.descending, order.nan_first),
            order.begin_bit, order.end_bit};
}

template <class Bits, class Value>
kernels::radix_workspace workspace_for(gpu_device& gpu, std::size_t n) {
    const auto block = gpu.sort_workspace(
        kernels::radix_workspace_bytes<Bits, Value>(static_cast<core::index_t>(n)));
    return {block.memory, block.bytes};
}

/// The kernels' type for a value.
template <class Value>
using kernel_value =
    std::conditional_t<std::is_same_v<Value, value_of_16>, kernels::wide_value, Value>;

template <class Bits>
void radix_column<Bits>::keys(gpu_device& gpu, Bits* keys, Bits* other, std::size_t n,
                              const column_order& order) {
    cuda_check(kernels::sort_keys(workspace_for<Bits, tuning::no_value>(gpu, n), keys, other,
                                  static_cast<core::index_t>(n), radix_order_of<Bits>(order),
                                  gpu.native_stream()),
               "launch a sort");
}

template <class Bits>
template <class Value>
void radix_column<Bits>::pairs(gpu_device& gpu, Bits* keys, Bits* other, Value* values,
                               Value* other_values, std::size_t n, const column_order& order) {
    using kernel = kernel_value<Value>;
    cuda_check(kernels::sort_pairs(
                   workspace_for<Bits, kernel>(gpu, n), keys, other,
                   reinterpret_cast<kernel*>(values), reinterpret_cast<kernel*>(other_values),
                   static_cast<core::index_t>(n), radix_order_of<Bits>(order), gpu.native_stream()),
               "launch a sort of pairs");
}

template <class Bits>
template <class Index>
void radix_column<Bits>::argsort(gpu_device& gpu, const Bits* keys, Bits* first, Bits* second,
                                 Index* index, Index* other_index, std::size_t n,
                                 const column_order& order) {
    cuda_check(kernels::argsort(workspace_for<Bits, Index>(gpu, n), keys, first, second, index,
                                other_index, static_cast<core::index_t>(n),
                                radix_order_of<Bits>(order), gpu.native_stream()),
               "launch an argsort");
}

template <class Bits>
template <class Index>
void radix_column<Bits>::with_index(gpu_device& gpu, Bits* keys, Bits* other, Index* index,
                                    Index* other_index, std::size_t n, const column_order& order) {
    cuda_check(kernels::sort_with_index(workspace_for<Bits, Index>(gpu, n), keys, other, index,
                                        other_index, static_cast<core::index_t>(n),
                                        radix_order_of<Bits>(order), gpu.native_stream()),
               "launch a sort with an index");
}

// A macro, because a function cannot instantiate templates explicitly.
#define LOOKBACK_RADIX_COLUMN(Bits)                                                                \
    template struct radix_column<Bits>;                                                            \
    template void radix_column<Bits>::pairs(gpu_device&, Bits*, Bits*, std::uint32_t*,             \
                                            std::uint32_t*, std::size_t, const column_order&);     \
    template void radix_column<Bits>::pairs(gpu_device&, Bits*, Bits*, std::uint64_t*,             \
                                            std::uint64_t*, std::size_t, const column_order&);     \
    template void radix_column<Bits>::pairs(gpu_device&, Bits*, Bits*, value_of_16*, value_of_16*, \
                                            std::size_t, const column_order&);                     \
    template void radix_column<Bits>::argsort(gpu_device&, const Bits*, Bits*, Bits*,              \
                                              std::uint32_t*, std::uint32_t*, std::size_t,         \
                                              const column_order&);                                \
    template void radix_column<Bits>::argsort(gpu_device&, const Bits*, Bits*, Bits*,              \
                                              std::uint64_t*, std::uint64_t*, std::size_t,         \
                                              const column_order&);                                \
    template void radix_column<Bits>::with_index(gpu_device&, Bits*, Bits*, std::uint32_t*,        \
                                                 std::uint32_t*, std::size_t,                      \
                                                 const column_order&);                             \
    template void radix_column<Bits>::with_index(gpu_device&, Bits*, Bits*, std::uint64_t*,        \
                                                 std::uint64_t*, std::size_t, const column_order&)

}  // namespace lookback::cuda
