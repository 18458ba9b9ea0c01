// Level L5 (device): the launches of a stable sort of even keys by buckets.
// Invariant: never synchronises; where keys turn out uneven, all but the histogram return at once
// and passes by all digits follow.
#pragma once

#include <lookback/kernels/device/radix_bucket_launches.cuh>
#include <lookback/kernels/device/radix_launches.cuh>
#include <lookback/kernels/device/radix_stable.cuh>

namespace lookback::device {

/// A stable sort of even keys: histogram of buckets, passes by the top bits, a block a bucket; what
/// that does not suit is left to passes by all digits, as the device decides.
template <class Key, class Value, class Policy = tuning::radix_policy<Key, Value>,
          class Bucket = tuning::stable_bucket_policy<Key, Value>>
class stable_launches {
public:
    /// Whether n items are worth buckets, and few enough for them.
    static constexpr bool suit(index_t n) {
        return sizeof(Key) >= 4 && n >= least_items && n <= most_items;
    }
    /// Buckets of n keys: 4096 on average, or fewer.
    static constexpr bucket_shape shape_of(index_t n) {
        int bits = 4;
        while (bits < tuning::most_bucket_bits && n > tuning::bucket_items << bits) ++bits;
        return {bits, bits <= block::digit_bits ? bits : (bits + 1) / 2};
    }

    stable_launches(const radix_workspace& workspace, const radix_buffers<Key, Value>& buffers,
                    const radix_shape& shape, const radix_order<Key>& order,
                    const bucket_shape& buckets, cudaStream_t stream)
        : workspace_(workspace),
          buffers_(buffers),
          shape_(shape),
          order_(order),
          buckets_(buckets),
          stream_(stream),
          passes_(workspace, buffers, shape, order, stream) {}

    cudaError_t run() {
        if (workspace_.bytes < radix_layout(shape_.items, Policy::tile_items).bytes) {
            return cudaErrorInvalidValue;
        }
        cudaError_t status = multiprocessors(sms_);
        if (status == cudaSuccess) status = count();
        if (status == cudaSuccess) {
            status = arch::launch(stable_plan<Bucket>,
                                  {static_cast<unsigned>(sms_), stable_plan_threads}, stream_,
                                  buckets_, shape_, part().words(), passes_.words());
        }
        if (status == cudaSuccess) status = passes_.run_top(buckets_);
        if (status == cudaSuccess) status = sort_buckets();
        return status == cudaSuccess ? passes_.run(&part().header.by_passes) : status;
    }

private:
    static constexpr index_t least_items = index_t{1} << 13;
    static constexpr index_t most_items = tuning::bucket_items << tuning::most_bucket_bits;

    radix_fixed_part& part() const { return *static_cast<radix_fixed_part*>(workspace_.memory); }

    cudaError_t count() {
        const bool aligned = reinterpret_cast<std::uintptr_t>(buffers_.in) % 16 == 0;
        return launch_with_shared(
            bucket_histogram<Key, true>,
            {histogram_blocks<Key>(shape_.items, sms_), tuning::bucket_histogram_threads,
             std::size_t{2} << buckets_.bits},
            stream_, buffers_.in, shape_.items, order_.order, {buckets_, 0, 0, 0, 0, 0},
            part().words(), &part().header, aligned);
    }
    cudaError_t sort_buckets() {
        const auto kernel = sort_stable_buckets<Bucket, Key, Value>;
        constexpr std::size_t bytes = sizeof(local_shared<Bucket, Key, Value>);
        const cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        if (status != cudaSuccess) return status;
        const int end_bit = 8 * static_cast<int>(sizeof(Key)) - buckets_.bits;
        return arch::launch(
            kernel, {static_cast<unsigned>(buckets_.buckets()), Bucket::threads, bytes}, stream_,
            buffers_, shape_, order_.order, part().begins, &part().header, end_bit);
    }

    radix_workspace workspace_;
    radix_buffers<Key, Value> buffers_;
    radix_shape shape_;
    radix_order<Key> order_;
    bucket_shape buckets_;
    cudaStream_t stream_;
    radix_launches<Key, Value, Policy> passes_;
    int sms_ = 0;
};

}  // namespace lookback::device
