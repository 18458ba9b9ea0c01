// CUDA backend: from the options of a segmented scan or reduction to its kernel. Included by one
// file an item width, so that no file compiles for long.
#pragma once

#include "cuda/cuda_check.hpp"
#include "cuda/gpu_device.hpp"
#include "cuda/operator_switch.cuh"

#include <lookback/kernels/device/segmented_scan.cuh>

namespace lookback::cuda {

namespace kernels = lookback::device;  // `device` alone is the class of backend.hpp here

/// Device memory until the end of the scope, in stream order.
class stream_block {
public:
    stream_block(gpu_device& gpu, std::size_t bytes)
        : gpu_(gpu), bytes_(bytes), memory_(gpu.memory().allocate(bytes)) {}
    stream_block(const stream_block&) = delete;
    stream_block& operator=(const stream_block&) = delete;
    ~stream_block() { gpu_.memory().deallocate(memory_, bytes_); }

    void* data() const { return memory_; }

private:
    gpu_device& gpu_;
    std::size_t bytes_;
    void* memory_;
};

/// The segments with items read as `Item`, a type of T's width on which Op gives the same bits.
template <kernels::segmented_result Result, class Item, class T, class Op>
scan_strategy segments_as(gpu_device& gpu, const kernels::segmented_request<T>& request,
                          bool reproducible, Op op) {
    kernels::segmented_request<Item> same{
        {reinterpret_cast<const Item*>(request.scan.in), reinterpret_cast<Item*>(request.scan.out),
         request.scan.items, request.scan.exclusive, std::nullopt},
        request.list,
        same_bits<Item>(request.empty)};
    if (request.scan.init) same.scan.init = same_bits<Item>(*request.scan.init);
    const core::index_t items = request.scan.items;
    const auto memory = gpu.workspace(kernels::segmented_workspace_bytes<Item>(items));
    const stream_block bounds(
        gpu,
        static_cast<std::size_t>(kernels::segmented_bounds<Item>(items)) * sizeof(core::index_t));
    const kernels::segmented_workspace workspace{{memory.memory, memory.bytes, nullptr},
                                                 static_cast<core::index_t*>(bounds.data())};
    if constexpr (order_shows<Item, Op>) {
        if (reproducible) {
            cuda_check(
                kernels::segmented_reproducible<Result>(workspace, same, op, gpu.native_stream()),
                "launch a reproducible scan of segments");
            return scan_strategy::bounded;
        }
    }
    using policy =
        std::conditional_t<Result == kernels::segmented_result::items,
                           tuning::segmented_policy<Item>, tuning::segmented_totals<Item>>;
    cuda_check(kernels::segmented_under<policy, Result>(workspace, same, op, gpu.native_stream()),
               "launch a scan of segments");
    return scan_strategy::lookback;
}

template <kernels::segmented_result Result, arithmetic_item T>
scan_strategy run_segments(device& device, const segmented_arrays<T>& arrays, bool exclusive,
                           T empty, const scan_options<T>& options) {
    auto& gpu = static_cast<gpu_device&>(device);
    cuda_check(cudaSetDevice(gpu.ordinal()), "select the device");
    if (arrays.items > 0) gpu.require_own(arrays.in, "in");
    const bool writes =
        Result == kernels::segmented_result::items ? arrays.items > 0 : arrays.segments > 0;
    if (!writes) return scan_strategy::lookback;
    gpu.require_own(arrays.out, "out");
    const kernels::segmented_request<T> request{
        {arrays.in, arrays.out, static_cast<core::index_t>(arrays.items), exclusive, options.init},
        {arrays.offsets, static_cast<core::index_t>(arrays.segments)},
        empty};
    return by_operator<T>(options.op, [&]<class Item, class Op>(Item /*as*/, Op op) {
        return segments_as<Result, Item>(gpu, request, options.reproducible, op);
    });
}

template <arithmetic_item T>
scan_strategy segmented_scan(device& device, const segmented_arrays<T>& arrays, bool exclusive,
                             const scan_options<T>& options) {
    return run_segments<kernels::segmented_result::items>(device, arrays, exclusive, T{}, options);
}

template <arithmetic_item T>
scan_strategy segmented_reduce(device& device, const segmented_arrays<T>& arrays, T empty,
                               const scan_options<T>& options) {
    return run_segments<kernels::segmented_result::totals>(device, arrays, false, empty, options);
}

}  // namespace lookback::cuda
