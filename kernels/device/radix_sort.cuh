// Level L5 (device): stable radix sort of keys, of keys with values, of indices, in device memory.
// Invariant: never synchronises and allocates nothing; can be captured in a CUDA graph. Progress
// depends on no order in which blocks are dispatched. Equal keys (-0.0 beside +0.0, NaNs) keep
// order. Source: Adinets and Merrill, "Onesweep" (2022); docs/decisions/0011-cuda-sort.md.
#pragma once

#include <lookback/kernels/device/radix_bucket_sort.cuh>
#include <lookback/kernels/device/radix_partition.cuh>
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

/// Keys without order among equals: partitioned into buckets of some thousand keys, each sorted by
/// one block; what that does not suit is left to passes by digits, as the device decides.
template <class Key>
class bucket_launches {
public:
    using partition = tuning::partition_policy<Key>;
    using bucket = tuning::bucket_policy<Key>;

    /// Whether n keys are too many for one block and few enough for buckets.
    static constexpr bool suit(index_t n) {
        return n > bucket::tile_items &&
               n <= (tuning::bucket_items << tuning::most_bucket_bits) * 5 / 4;
    }

    /// Buckets of n keys: 4096 on average, or fewer.
    static constexpr bucket_shape shape_of(index_t n) {
        constexpr int least_bits = 4;
        int bits = least_bits;
        while (bits < tuning::most_bucket_bits && n > tuning::bucket_items << bits) ++bits;
        return {bits, bits <= block::digit_bits ? bits : (bits + 1) / 2};
    }

    bucket_launches(radix_fixed_part& part, Key* keys, Key* other, index_t n, bucket_shape shape,
                    const core::key_order<Key>& order, cudaStream_t stream)
        : words_{part.words()},
          header_(&part.header),
          keys_(keys),
          other_(other),
          items_(n),
          order_(order),
          shape_(shape),
          stream_(stream) {}

    cudaError_t run() {
        cudaError_t status = multiprocessors(sms_);
        if (status == cudaSuccess) status = count();
        if (status == cudaSuccess) {
            status = arch::launch(bucket_plan<bucket>, {1, 1024}, stream_, items_, shape_, words_,
                                  index_t{partition::tile_items}, header_);
        }
        if (status == cudaSuccess) status = first();
        if (status == cudaSuccess && shape_.second_bits() > 0) status = second();
        return status == cudaSuccess ? buckets() : status;
    }

private:
    cudaError_t count() {
        const std::size_t bytes = std::size_t{2} << shape_.bits;
        const auto kernel = bucket_histogram<Key>;
        const cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 << tuning::most_bucket_bits);
        if (status != cudaSuccess) return status;
        constexpr index_t block_items = index_t{tuning::bucket_histogram_threads} *
                                        tuning::histogram_vectors *
                                        static_cast<index_t>(16 / sizeof(Key));
        const index_t wanted = core::tile_shape{items_, block_items}.tiles();
        const auto blocks = static_cast<unsigned>(wanted < sms_ ? wanted : sms_);
        const bool aligned = reinterpret_cast<std::uintptr_t>(keys_) % 16 == 0;
        return arch::launch(kernel, {blocks, tuning::bucket_histogram_threads, bytes}, stream_,
                            keys_, items_, order_, shape_, words_, header_, aligned);
    }
    cudaError_t first() {
        const auto kernel = partition_first<partition, Key>;
        constexpr std::size_t bytes = sizeof(partition_shared<partition>);
        const cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        if (status != cudaSuccess) return status;
        const index_t tiles = core::tile_shape{items_, partition::tile_items}.tiles();
        return arch::launch(kernel, {static_cast<unsigned>(tiles), partition::threads, bytes},
                            stream_, keys_, other_, items_, order_, shape_, words_, header_);
    }
    cudaError_t second() {
        const auto kernel = partition_second<partition, Key>;
        constexpr std::size_t bytes = sizeof(partition_shared<partition>);
        const cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        if (status != cudaSuccess) return status;
        // Every first bucket may end in a short tile.
        const index_t tiles = items_ / partition::tile_items + (index_t{1} << shape_.first_bits);
        return arch::launch(kernel, {static_cast<unsigned>(tiles), partition::threads, bytes},
                            stream_, other_, keys_, order_, shape_, words_, header_);
    }
    cudaError_t buckets() {
        const auto kernel = sort_buckets<bucket, Key>;
        constexpr std::size_t bytes = sizeof(bucket_shared<bucket, Key>);
        const cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        if (status != cudaSuccess) return status;
        const Key* from = shape_.second_bits() > 0 ? keys_ : other_;
        return arch::launch(kernel,
                            {static_cast<unsigned>(shape_.buckets()), bucket::threads, bytes},
                            stream_, from, keys_, order_, words_, header_);
    }

    bucket_words words_;
    radix_header* header_;
    Key* keys_;
    Key* other_;
    index_t items_;
    core::key_order<Key> order_;
    bucket_shape shape_;
    cudaStream_t stream_;
    int sms_ = 0;
};

template <class Key>
cudaError_t sort_in_one_block(Key* keys, index_t n, const radix_order<Key>& order,
                              cudaStream_t stream) {
    using bucket = tuning::bucket_policy<Key>;
    const auto kernel = sort_one_block<bucket, Key>;
    constexpr std::size_t bytes = sizeof(bucket_shared<bucket, Key>);
    const cudaError_t status = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (status != cudaSuccess) return status;
    const bool stably = order.order.floating || !order.is_whole();
    return arch::launch(kernel, {1, bucket::threads, bytes}, stream, keys, static_cast<int>(n),
                        order.order, order.begin_bit, order.end_bit, stably);
}

/// Sorts n keys in place, stably; `other` is a buffer for n keys.
///
/// Traffic: even keys of 4 or 8 bytes are read once and then moved three times; others once for
/// each 8 bits that differ; sorted keys are only read. Stream: ordered, asynchronous. Extra memory:
/// `other` and the workspace. Returns cudaErrorInvalidValue for a workspace that is too small.
template <class Key>
cudaError_t sort_keys(const radix_workspace& workspace, Key* keys, Key* other, index_t n,
                      const radix_order<Key>& order, cudaStream_t stream) {
    if (n <= 1) return cudaSuccess;
    if (workspace.bytes < radix_workspace_bytes<Key, no_value>(n)) return cudaErrorInvalidValue;
    if (n <= tuning::bucket_policy<Key>::tile_items) {
        return sort_in_one_block(keys, n, order, stream);
    }
    const radix_buffers<Key, no_value> buffers{keys, keys, other, nullptr, nullptr};
    if constexpr (sizeof(Key) >= 4) {
        if (order.is_whole() && bucket_launches<Key>::suit(n)) {
            auto& part = *static_cast<radix_fixed_part*>(workspace.memory);
            using launches = bucket_launches<Key>;
            const cudaError_t status =
                launches(part, keys, other, n, launches::shape_of(n), order.order, stream).run();
            if (status != cudaSuccess) return status;
            return sort_by_passes(workspace, buffers, n, order, radix_result::in_place, stream,
                                  &part.header.by_passes);
        }
    }
    return sort_by_passes(workspace, buffers, n, order, radix_result::in_place, stream);
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
