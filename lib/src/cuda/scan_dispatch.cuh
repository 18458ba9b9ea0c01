// CUDA backend: from the options of a scan to its kernel. Included by one file an item width, so
// that no file compiles for long.
#pragma once

#include "cuda/cuda_check.hpp"
#include "cuda/gpu_device.hpp"
#include "cuda/operator_switch.cuh"

#include <lookback/kernels/device/scan.cuh>

namespace lookback::cuda {

namespace kernels = lookback::device;  // `device` alone is the class of backend.hpp here

constexpr kernels::scan_strategy kernel_strategy(scan_strategy strategy) {
    switch (strategy) {
        case scan_strategy::automatic:
            return kernels::scan_strategy::automatic;
        case scan_strategy::single:
            return kernels::scan_strategy::single;
        case scan_strategy::three_launch:
            return kernels::scan_strategy::three_launch;
        case scan_strategy::grid_barrier:
            return kernels::scan_strategy::grid_barrier;
        case scan_strategy::lookback:
            return kernels::scan_strategy::lookback;
        case scan_strategy::bounded:
            return kernels::scan_strategy::bounded;
        case scan_strategy::fallback:
            return kernels::scan_strategy::fallback;
    }
    return kernels::scan_strategy::automatic;
}

template <class Item>
constexpr scan_strategy automatic_choice(core::index_t items) {
    switch (kernels::automatic_strategy<Item>(items)) {
        case kernels::scan_strategy::single:
            return scan_strategy::single;
        case kernels::scan_strategy::bounded:
            return scan_strategy::bounded;
        default:
            return scan_strategy::fallback;
    }
}

/// The scan with items read as `Item`, a type of T's width on which Op gives the same bits.
template <class Item, class T, class Op>
scan_strategy scan_as(gpu_device& gpu, const kernels::scan_request<T>& request,
                      const scan_options<T>& options, Op op) {
    kernels::scan_request<Item> same{reinterpret_cast<const Item*>(request.in),
                                     reinterpret_cast<Item*>(request.out), request.items,
                                     request.exclusive, std::nullopt};
    if (request.init) same.init = same_bits<Item>(*request.init);
    const auto memory = gpu.workspace(kernels::scan_workspace_bytes<Item>(request.items));
    const kernels::scan_workspace workspace{memory.memory, memory.bytes, nullptr};
    if constexpr (order_shows<Item, Op>) {
        if (options.reproducible) {
            cuda_check(kernels::reproducible_scan(workspace, same, op, gpu.native_stream()),
                       "launch a reproducible scan");
            return scan_strategy::bounded;
        }
    }
    const scan_strategy strategy = options.strategy == scan_strategy::automatic
                                       ? automatic_choice<Item>(request.items)
                                       : options.strategy;
    cuda_check(
        kernels::scan_by(kernel_strategy(strategy), workspace, same, op, gpu.native_stream()),
        "launch a scan");
    return strategy;
}

template <arithmetic_item T>
scan_strategy scan(device& device, const T* in, T* out, std::size_t items, bool exclusive,
                   const scan_options<T>& options) {
    if (items == 0) return scan_strategy::single;
    auto& gpu = static_cast<gpu_device&>(device);
    cuda_check(cudaSetDevice(gpu.ordinal()), "select the device");
    gpu.require_own(in, "scan: in");
    gpu.require_own(out, "scan: out");
    const kernels::scan_request<T> request{in, out, static_cast<core::index_t>(items), exclusive,
                                           options.init};
    return by_operator<T>(options.op, [&]<class Item, class Op>(Item /*as*/, Op op) {
        return scan_as<Item>(gpu, request, options, op);
    });
}

}  // namespace lookback::cuda
