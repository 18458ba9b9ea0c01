// Level L5 (device): the launches of a sort by passes: the histogram, a pass a digit, what is left.
// Invariant: never synchronises; how many of them have work to do is decided on the device.
#pragma once

#include <lookback/kernels/device/radix_finish.cuh>
#include <lookback/kernels/device/radix_histogram.cuh>
#include <lookback/kernels/device/radix_local.cuh>
#include <lookback/kernels/device/radix_workspace.cuh>

namespace lookback::device {

/// By which bits of the ordered key to sort: [begin_bit, end_bit), end_bit > begin_bit.
template <class Key>
struct radix_order {
    core::key_order<Key> order;
    int begin_bit = 0;
    int end_bit = 8 * sizeof(Key);

    bool is_whole() const { return begin_bit == 0 && end_bit == 8 * static_cast<int>(sizeof(Key)); }
};

/// The launches of a sort: the histogram, a pass a digit, what is left.
template <class Key, class Value, class Policy = tuning::radix_policy<Key, Value>>
class radix_launches {
public:
    using policy = Policy;

    radix_launches(const radix_workspace& workspace, const radix_buffers<Key, Value>& buffers,
                   const radix_shape& shape, const radix_order<Key>& order, cudaStream_t stream)
        : layout_(shape.items, policy::tile_items),
          enough_(workspace.bytes >= layout_.bytes),
          words_(layout_.words(workspace)),
          buffers_(buffers),
          shape_(shape),
          order_(order.order),
          stream_(stream) {}

    /// Where `wanted` is not null, everything waits for what it points to: 0 means no sort.
    cudaError_t run(const std::uint64_t* wanted = nullptr) {
        wanted_ = wanted;
        if (!enough_) return cudaErrorInvalidValue;

        if (wanted == nullptr && shape_.items <= one_tile::tile_items) return in_one_tile();
        cudaError_t status = multiprocessors(sms_);
        if (status == cudaSuccess) status = count();
        for (int place = 0; place < shape_.places && status == cudaSuccess; ++place) {
            status = pass(place, shape_.shift(place), shape_.digit_mask(place), false);
        }
        return status == cudaSuccess ? finish() : status;
    }

    /// By the top bits alone, as the plan of buckets says.
    cudaError_t run_top(const bucket_shape& buckets) {
        if (!enough_) return cudaErrorInvalidValue;
        cudaError_t status = multiprocessors(sms_);
        const int begin = 8 * static_cast<int>(sizeof(Key)) - buckets.bits;
        for (int bit = 0; bit < buckets.bits && status == cudaSuccess; bit += block::digit_bits) {
            const int left = buckets.bits - bit;
            const int bits = left < block::digit_bits ? left : block::digit_bits;
            status = pass(bit / block::digit_bits, begin + bit, (1U << bits) - 1, true);
        }
        return status;
    }
    const radix_words& words() const { return words_; }

private:
    static_assert(sizeof(radix_shared<policy, Key, Value>) <= tuning::most_shared_bytes);
    using one_tile = tuning::one_tile_policy<Key, Value>;

    cudaError_t in_one_tile() {
        const auto kernel = sort_whole<one_tile, Key, Value>;
        constexpr std::size_t bytes = sizeof(local_shared<one_tile, Key, Value>);
        const cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        if (status != cudaSuccess) return status;
        local_job<Key, Value> job{};
        job.keys_from = buffers_.in;
        job.keys_to = shape_.in_place ? buffers_.result : nullptr;
        job.values_from = shape_.makes_index ? nullptr : buffers_.values;
        job.values_to = buffers_.values;
        job.size = static_cast<int>(shape_.items);
        job.begin_bit = shape_.begin_bit;
        job.end_bit = shape_.end_bit;
        return arch::launch(kernel, {1, one_tile::threads, bytes}, stream_, job, order_);
    }
    cudaError_t count() {
        constexpr index_t block_items = index_t{tuning::histogram_threads} *
                                        tuning::histogram_vectors *
                                        static_cast<index_t>(16 / sizeof(Key));
        const bool aligned = reinterpret_cast<std::uintptr_t>(buffers_.in) % 16 == 0;
        return arch::launch(radix_histogram<Key>,
                            {blocks(shape_.items, block_items, tuning::histogram_blocks_per_sm),
                             tuning::histogram_threads},
                            stream_, buffers_.in, shape_, order_, words_, aligned, wanted_);
    }
    cudaError_t pass(int place, int shift, std::uint32_t digit_mask, bool top) {
        const auto kernel = radix_pass<policy, Key, Value>;
        constexpr std::size_t bytes = sizeof(radix_shared<policy, Key, Value>);
        cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        const core::tile_shape portions{shape_.items, tuning::portion_items};
        for (index_t portion = 0; portion < layout_.portions && status == cudaSuccess; ++portion) {
            const index_t items = portions.size(portion);
            const pass_launch launch{place,   top,
                                     shift,   digit_mask,
                                     portion, portions.begin(portion),
                                     items,   core::tile_shape{items, policy::tile_items}.tiles()};
            status = arch::launch(
                kernel, {blocks(launch.tiles, 1, policy::blocks_per_sm), policy::threads, bytes},
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
    const std::uint64_t* wanted_ = nullptr;
};

}  // namespace lookback::device
