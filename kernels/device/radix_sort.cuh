// Level L5 (device): stable radix sort of keys, of keys with values, of indices, in device memory.
// Invariant: never synchronises and allocates nothing; can be captured in a CUDA graph. Progress
// depends on no order in which blocks are dispatched. Equal keys (-0.0 beside +0.0, NaNs) keep order.
// Source: Adinets and Merrill, "Onesweep" (2022); docs/decisions/0010-cuda-sort.md.
#pragma once

#include <lookback/kernels/device/radix_histogram.cuh>
#include <lookback/kernels/device/radix_pass.cuh>
#include <lookback/kernels/device/radix_workspace.cuh>

namespace lookback::device {

/// By which bits of the ordered key to sort: [begin_bit, end_bit), end_bit > begin_bit.
template <class Key>
struct radix_order {
    core::key_order<Key> order;
    int begin_bit = 0;
    int end_bit = 8 * sizeof(Key);
};

inline cudaError_t multiprocessors(int& count) {
    int device = 0;
    const cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
}

/// The launches of a sort: the histogram, a pass a digit, what is left.
template <class Key, class Value>
class radix_launches {
public:
    using policy = tuning::radix_policy<Key, Value>;

    radix_launches(const radix_workspace& workspace, const radix_buffers<Key, Value>& buffers,
                   const radix_shape& shape, const radix_order<Key>& order, cudaStream_t stream)
        : layout_(shape.items, policy::tile_items),
          enough_(workspace.bytes >= layout_.bytes),
          words_(layout_.words(workspace)),
          buffers_(buffers),
          shape_(shape),
          order_(order.order),
          stream_(stream) {}

    cudaError_t run() {
        if (!enough_) return cudaErrorInvalidValue;
        cudaError_t status = multiprocessors(sms_);
        if (status == cudaSuccess) status = count();
        for (int place = 0; place < shape_.places && status == cudaSuccess; ++place) {
            status = pass(place);
        }
        return status == cudaSuccess ? finish() : status;
    }

private:
    cudaError_t count() {
        constexpr index_t block_items = index_t{tuning::histogram_threads} *
                                        tuning::histogram_vectors *
                                        static_cast<index_t>(16 / sizeof(Key));
        const bool aligned = reinterpret_cast<std::uintptr_t>(buffers_.in) % 16 == 0;
        return arch::launch(radix_histogram<Key>,
                            {blocks(shape_.items, block_items, tuning::histogram_blocks_per_sm),
                             tuning::histogram_threads},
                            stream_, buffers_.in, shape_, order_, words_, aligned);
    }
    cudaError_t pass(int place) {
        const auto kernel = radix_pass<policy, Key, Value>;
        constexpr std::size_t bytes = sizeof(radix_shared<policy>);
        cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        const core::tile_shape portions{shape_.items, tuning::portion_items};
        for (index_t portion = 0; portion < layout_.portions && status == cudaSuccess; ++portion) {
            const index_t items = portions.size(portion);
            const pass_launch launch{place, portion, portions.begin(portion), items,
                                     core::tile_shape{items, policy::tile_items}.tiles()};
            status = arch::launch(kernel,
                                  {static_cast<unsigned>(launch.tiles), policy::threads, bytes},
                                  stream_, buffers_, shape_, order_, words_, launch);
        }
        return status;
    }
    cudaError_t finish() {
        return arch::launch(radix_finish<Key, Value>,
                            {blocks(shape_.items, finish_threads * 8, 2), finish_threads}, stream_,
                            buffers_, shape_, words_);
    }
    unsigned blocks(index_t items, index_t block_items, int per_sm) const {
        const index_t wanted = core::tile_shape{items, block_items}.tiles();
        const index_t most = index_t{sms_} * per_sm;
        return static_cast<unsigned>(wanted < most ? wanted : most);
    }

    radix_layout layout_;
    bool enough_;
    radix_words words_;
    radix_buffers<Key, Value> buffers_;
    radix_shape shape_;
    core::key_order<Key> order_;
    cudaStream_t stream_;
    int sms_ = 0;
};

template <class Key, class Value>
cudaError_t sort_by_passes(const radix_workspace& workspace,
                           const radix_buffers<Key, Value>& buffers, index_t items,
                           const radix_order<Key>& order, bool makes_index, cudaStream_t stream) {
    if (items <= 0) return cudaSuccess;
    const int bits = order.end_bit - order.begin_bit;
    const radix_shape shape{items,
                            core::ceil_div(bits, block::digit_bits),
                            order.begin_bit,
                            order.end_bit,
                            !makes_index,
                            makes_index};
    return radix_launches<Key, Value>(workspace, buffers, shape, order, stream).run();
}

/// Sorts n keys in place, stably; `other` is a buffer for n keys.
///
/// Traffic: keys read once, then read and written once for each 8 bits that differ; sorted keys are
/// only read. Stream: ordered, asynchronous. Extra memory: `other` and the workspace.
/// Returns cudaErrorInvalidValue for a workspace that is too small.
template <class Key>
cudaError_t sort_keys(const radix_workspace& workspace, Key* keys, Key* other, index_t n,
                      const radix_order<Key>& order, cudaStream_t stream) {
    return sort_by_passes<Key, no_value>(workspace, {keys, keys, other, nullptr, nullptr}, n,
                                         order, false, stream);
}

/// Sorts n keys in place and moves their values (4, 8 or 16 bytes) with them, stably.
template <class Key, class Value>
cudaError_t sort_pairs(const radix_workspace& workspace, Key* keys, Key* other, Value* values,
                       Value* other_values, index_t n, const radix_order<Key>& order,
                       cudaStream_t stream) {
    return sort_by_passes<Key, Value>(workspace, {keys, keys, other, values, other_values}, n,
                                      order, false, stream);
}

/// The stable order of n keys: keys[index[0]], keys[index[1]], ... is sorted. Index is uint32 or
/// uint64 (n fits it). `first`, `second` and `other_index` are buffers of n; keys are only read.
template <class Key, class Index>
cudaError_t argsort(const radix_workspace& workspace, const Key* keys, Key* first, Key* second,
                    Index* index, Index* other_index, index_t n, const radix_order<Key>& order,
                    cudaStream_t stream) {
    return sort_by_passes<Key, Index>(workspace, {keys, first, second, index, other_index}, n,
                                      order, true, stream);
}

}  // namespace lookback::device
