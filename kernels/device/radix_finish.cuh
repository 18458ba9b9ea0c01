// Level L5 (device): what a radix sort leaves to do when no pass, or an odd number of them, ran.
// Invariant: decided on the device; returns at once where nothing is left.
#pragma once

#include <lookback/kernels/device/radix_pass.cuh>

namespace lookback::device {

inline constexpr int finish_threads = 512;

/// What is left when no pass, or an odd number of them, ran.
template <class Key, class Value>
__global__ void __launch_bounds__(finish_threads)
    radix_finish(const radix_buffers<Key, Value> buffers, const radix_shape shape,
                 const radix_words words) {
    const finish_action action = words.header->plan.finish;
    if (action == finish_action::none) return;
    const index_t workers = index_t{gridDim.x} * blockDim.x;
    const index_t worker = index_t{arch::block_number()} * blockDim.x + threadIdx.x;
    const index_t n = shape.items;
    if (action == finish_action::reverse) {
        // The middle one, where there is one, changes places with itself.
        for (index_t i = worker; i < n - i; i += workers) {
            const index_t mirror = n - 1 - i;
            const Key key = buffers.in[i];
            buffers.result[i] = buffers.in[mirror];
            buffers.result[mirror] = key;
            if constexpr (has_value<Value>) {
                Value value = buffers.values[i];
                Value mirrored = buffers.values[mirror];
                if constexpr (std::is_integral_v<Value>) {
                    if (shape.makes_index) {
                        value = static_cast<Value>(i);
                        mirrored = static_cast<Value>(mirror);
                    }
                }
                buffers.values[i] = mirrored;
                buffers.values[mirror] = value;
            }
        }
        return;
    }
    for (index_t i = worker; i < n; i += workers) {
        if (action == finish_action::copy) {
            buffers.result[i] = buffers.other[i];
            if constexpr (has_value<Value>) {
                if (!shape.makes_index) buffers.values[i] = buffers.other_values[i];
            }
        } else if constexpr (std::is_integral_v<Value>) {
            buffers.values[i] =
                static_cast<Value>(action == finish_action::ascending ? i : n - 1 - i);
        }
    }
}

}  // namespace lookback::device
