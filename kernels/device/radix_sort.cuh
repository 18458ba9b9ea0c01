// Level L5 (device): stable radix sort of keys, of keys with values, of indices, in device memory.
// Invariant: never synchronises and allocates nothing; can be captured in a CUDA graph. Progress
// depends on no order in which blocks are dispatched. Equal keys (-0.0 beside +0.0, NaNs) keep
// order. Source: Adinets and Merrill, "Onesweep" (2022); docs/decisions/0011-cuda-sort.md.
#pragma once

#include <lookback/kernels/device/radix_bucket_launches.cuh>
#include <lookback/kernels/device/radix_stable_launches.cuh>

namespace lookback::device {

/// What a sort by passes leaves behind.
enum class radix_result {
    in_place,    ///< keys and values where they were
    with_index,  ///< keys where they were, and the positions from which they came
    index,       ///< the positions alone; keys are only read
};

template <class Key, class Value>
cudaError_t sort_by_passes(const radix_workspace& workspace,
                           const radix_buffers<Key, Value>& buffers, index_t items,
                           const radix_order<Key>& order, radix_result result, cudaStream_t stream,
                           const std::uint64_t* wanted = nullptr) {
    if (items <= 0) return cudaSuccess;
    const int bits = order.end_bit - order.begin_bit;
    radix_shape shape{};
    shape.items = items;
    shape.places = core::ceil_div(bits, block::digit_bits);
    shape.begin_bit = order.begin_bit;
    shape.end_bit = order.end_bit;
    shape.in_place = result != radix_result::index;
    shape.makes_index = result != radix_result::in_place;
    if constexpr (has_value<Value> && sizeof(Key) >= 4) {
        using launches = stable_launches<Key, Value>;
        if (wanted == nullptr && order.is_whole() && launches::suit(items)) {
            return launches(workspace, buffers, shape, order, launches::shape_of(items), stream)
                .run();
        }
    }
    return radix_launches<Key, Value>(workspace, buffers, shape, order, stream).run(wanted);
}

/// Sorts n keys in place, stably; `other` is a buffer for n keys.
///
/// Traffic: even keys of 4 or 8 bytes are read once and then moved two or three times, uneven ones
/// up to once more for each 8 bits that differ, ambiguous floats and other widths by passes; sorted
/// keys are only read. Stream: ordered, asynchronous. Extra memory: `other` and the workspace.
/// Returns cudaErrorInvalidValue for a workspace that is too small.
template <class Key>
cudaError_t sort_keys(const radix_workspace& workspace, Key* keys, Key* other, index_t n,
                      const radix_order<Key>& order, cudaStream_t stream) {
    if (n <= 1) return cudaSuccess;
    if (workspace.bytes < radix_workspace_bytes<Key, no_value>(n)) return cudaErrorInvalidValue;
    if (n <= tuning::single_block_policy<Key>::tile_items) {
        return sort_in_one_block(keys, n, order.order, order.begin_bit, order.end_bit, stream);
    }
    const radix_buffers<Key, no_value> buffers{keys, keys, other, nullptr, nullptr};
    const std::uint64_t* wanted = nullptr;
    if constexpr (sizeof(Key) >= 4) {
        if (order.is_whole() && bucket_launches<Key>::suit(n)) {
            const auto sort_by = [&]<class Cut>(Cut) {
                using launches = bucket_launches<Key, Cut>;
                return launches(workspace, keys, other, n, launches::shape_of(n), order.order,
                                stream)
                    .run();
            };
            const cudaError_t status = n <= tuning::small_sort_items
                                           ? sort_by(tuning::small_key_sort_cut<Key>{})
                                           : sort_by(tuning::key_sort_cut<Key>{});
            // Integers that are equal are identical: nothing is left to do.
            if (status != cudaSuccess || !order.order.floating) return status;
            wanted = &static_cast<radix_fixed_part*>(workspace.memory)->header.by_passes;
        }
    }
    return sort_by_passes(workspace, buffers, n, order, radix_result::in_place, stream, wanted);
}

/// Sorts n keys in place and moves their values (4, 8 or 16 bytes) with them, stably.
template <class Key, class Value>
cudaError_t sort_pairs(const radix_workspace& workspace, Key* keys, Key* other, Value* values,
                       Value* other_values, index_t n, const radix_order<Key>& order,
                       cudaStream_t stream) {
    return sort_by_passes<Key, Value>(workspace, {keys, keys, other, values, other_values}, n,
                                      order, radix_result::in_place, stream);
}

/// Sorts n keys in place and makes the index that argsort() would have made of them.
template <class Key, class Index>
cudaError_t sort_with_index(const radix_workspace& workspace, Key* keys, Key* other, Index* index,
                            Index* other_index, index_t n, const radix_order<Key>& order,
                            cudaStream_t stream) {
    return sort_by_passes<Key, Index>(workspace, {keys, keys, other, index, other_index}, n, order,
                                      radix_result::with_index, stream);
}

/// The stable order of n keys: keys[index[0]], keys[index[1]], ... is sorted. Index is uint32 or
/// uint64 (n fits it). `first`, `second` and `other_index` are buffers of n; keys are only read.
template <class Key, class Index>
cudaError_t argsort(const radix_workspace& workspace, const Key* keys, Key* first, Key* second,
                    Index* index, Index* other_index, index_t n, const radix_order<Key>& order,
                    cudaStream_t stream) {
    return sort_by_passes<Key, Index>(workspace, {keys, first, second, index, other_index}, n,
                                      order, radix_result::index, stream);
}

}  // namespace lookback::device
