// CUDA backend: from the options of a scan to its kernel. Included by one file an item width, so
// that no file compiles for long. Invariant: what is the same for signed and unsigned items (all
// but min and max) is compiled once.
#pragma once

#include "cuda/cuda_check.hpp"
#include "cuda/gpu_device.hpp"

#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/device/scan.cuh>

#include <concepts>
#include <cstring>
#include <type_traits>

namespace lookback::cuda {

/// The type whose kernels serve T where the sign makes no difference.
template <class T>
struct wrapped_item {
    using type = T;
};
template <std::signed_integral T>
struct wrapped_item<T> {
    using type = std::make_unsigned_t<T>;
};

template <class Item, class T>
Item same_bits(const T& value) {
    static_assert(sizeof(Item) == sizeof(T));
    Item item;
    std::memcpy(&item, &value, sizeof(T));
    return item;
}

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
    constexpr bool order_shows =
        std::is_floating_point_v<Item> &&
        (std::is_same_v<Op, core::plus> || std::is_same_v<Op, core::multiplies>);
    if constexpr (order_shows) {
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
    const auto by = [&]<class Item, class Op>(Item /*as*/, Op op) {
        if constexpr (core::operator_applies<Op, T>) {
            return scan_as<Item>(gpu, request, options, op);
        } else {
            return scan_strategy::automatic;  // the API has refused it
        }
    };
    using bits = typename wrapped_item<T>::type;
    switch (options.op) {
        case scan_operator::plus:
            return by(bits{}, core::plus{});
        case scan_operator::multiplies:
            return by(bits{}, core::multiplies{});
        case scan_operator::minimum:
            return by(T{}, core::minimum{});
        case scan_operator::maximum:
            return by(T{}, core::maximum{});
        case scan_operator::bit_and:
            return by(bits{}, core::bit_and{});
        case scan_operator::bit_or:
            return by(bits{}, core::bit_or{});
        case scan_operator::bit_xor:
            return by(bits{}, core::bit_xor{});
    }
    return scan_strategy::automatic;  // no such operator
}

}  // namespace lookback::cuda
