// Level L5 (device): the launches of a sort of keys alone whose equal values are identical.
// Invariant: never synchronises and allocates nothing; where keys are ambiguous they are left as
// they came, and the header's by_passes says so. Source: docs/decisions/0011-cuda-sort.md.
#pragma once

#include <lookback/kernels/device/radix_partition.cuh>
#include <lookback/kernels/device/radix_uneven.cuh>
#include <lookback/kernels/device/radix_workspace.cuh>

namespace lookback::device {

/// Allows the kernel its dynamic shared memory and starts it.
template <class... Parameters>
cudaError_t launch_with_shared(void (*kernel)(Parameters...), const arch::grid& shape,
                               cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
    const cudaError_t status = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared_bytes));
    if (status != cudaSuccess) return status;
    return arch::launch(kernel, shape, stream, arguments...);
}

/// Blocks of a bucket_histogram().
template <class Key>
unsigned histogram_blocks(index_t items, int sms) {
    const index_t wanted = core::tile_shape{items, histogram_share<Key>::chunk_items}.tiles();
    // The log of a block has room for 2^27 keys.
    const index_t least = items >> 26;
    const index_t most = sms < least ? least : sms;
    return static_cast<unsigned>(wanted < most ? wanted : most);
}

/// Keys are counted, partitioned into buckets of some thousand keys, each sorted by one block; what
/// is too large for that is partitioned again.
template <class Key, class Cut = tuning::key_sort_cut<Key>>
class bucket_launches {
public:
    using partition = typename Cut::partition;
    using bucket = typename Cut::bucket;
    using group = typename Cut::group;
    static_assert(bucket::tile_items <= group::tile_items, "buckets that do not suit are groups");

    /// Whether places of n keys fit 32 bits.
    static constexpr bool suit(index_t n) { return n <= (index_t{1} << 32) - (index_t{1} << 20); }
    /// Buckets of n keys: 4096 on average, or fewer; one partition makes as many as it can.
    static constexpr bucket_shape shape_of(index_t n) {
        int bits = block::digit_bits;
        while (bits < tuning::most_bucket_bits && n > tuning::bucket_items << bits) ++bits;
        return {bits, bits <= block::digit_bits ? bits : (bits + 1) / 2};
    }
    static constexpr radix_layout layout_of(index_t n) {
        return {n, tuning::radix_policy<Key, no_value>::tile_items, group::tile_items};
    }

    bucket_launches(const radix_workspace& workspace, Key* keys, Key* other, index_t n,
                    bucket_shape shape, const core::key_order<Key>& order, cudaStream_t stream)
        : header_(&static_cast<radix_fixed_part*>(workspace.memory)->header),
          words_(uneven_layout(n, group::tile_items)
                     .words(*static_cast<radix_fixed_part*>(workspace.memory),
                            static_cast<unsigned char*>(workspace.memory) + layout_of(n).tiles_at)),
          keys_(keys),
          other_(other),
          items_(n),
          order_(order),
          shape_(shape),
          stream_(stream) {}

    cudaError_t run() const {
        int sms = 0;
        cudaError_t status = multiprocessors(sms);
        if (status == cudaSuccess) status = count(sms);
        if (status == cudaSuccess) status = first();
        if (status == cudaSuccess && shape_.second_bits() > 0) status = second();
        if (status == cudaSuccess) status = buckets();
        if (status == cudaSuccess) status = uneven(sms);
        if (status == cudaSuccess && Cut::groups_apart) status = groups(sms);
        return status;
    }

private:
    using second_tiles = span_tiles<partition, Key>;

    cudaError_t count(int sms) const {
        const unsigned blocks = histogram_blocks<Key>(items_, sms);
        const bool aligned = reinterpret_cast<std::uintptr_t>(keys_) % 16 == 0;
        const bucket_limits limits{shape_,
                                   static_cast<std::uint32_t>(partition::tile_items),
                                   static_cast<std::uint32_t>(second_tiles::lead(other_, 0)),
                                   static_cast<std::uint32_t>(second_tiles::lane_items),
                                   static_cast<std::uint32_t>(bucket::tile_items),
                                   static_cast<std::uint32_t>(group::tile_items)};
        const std::size_t bytes = std::size_t{2} << shape_.bits;
        return launch_with_shared(bucket_histogram<Key, false>,
                                  {blocks, tuning::bucket_histogram_threads, bytes}, stream_, keys_,
                                  items_, order_, limits, words_, header_, aligned);
    }
    cudaError_t first() const {
        const auto tiles = span_tiles<partition, Key>(keys_, 0, items_).count();
        return launch_with_shared(
            partition_first<partition, Key>,
            {static_cast<unsigned>(tiles), partition::threads, sizeof(partition_shared<partition>)},
            stream_, keys_, other_, items_, order_, shape_, words_, header_);
    }
    cudaError_t second() const {
        // Every first bucket may begin and end in a short tile.
        const index_t tiles =
            items_ / partition::tile_items + (index_t{1} << shape_.first_bits) + 1;
        return launch_with_shared(
            partition_second<partition, Key>,
            {static_cast<unsigned>(tiles), partition::threads, sizeof(partition_shared<partition>)},
            stream_, other_, keys_, shape_, words_, header_);
    }
    bool lie_in_other() const { return shape_.second_bits() == 0; }
    cudaError_t buckets() const {
        return launch_with_shared(sort_buckets<bucket, Key>,
                                  {static_cast<unsigned>(shape_.buckets()), bucket::threads,
                                   sizeof(window_shared<bucket, Key>)},
                                  stream_, lie_in_other() ? other_ : keys_, keys_, order_, words_,
                                  header_);
    }
    /// As many blocks as run at once.
    cudaError_t uneven(int sms) const {
        const auto kernel = sort_uneven<Cut, Key>;
        constexpr std::size_t bytes = sizeof(uneven_shared<Cut, Key>);
        cudaError_t status = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
        if (status != cudaSuccess) return status;
        int per_sm = 0;
        status =
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, group::threads, bytes);
        if (status != cudaSuccess) return status;
        // Barriers of few keys cost less among fewer blocks.
        if (!Cut::groups_apart && per_sm > 1) per_sm = 1;
        return arch::launch_cooperative(
            kernel, {static_cast<unsigned>(sms * per_sm), group::threads, bytes}, stream_,
            {keys_, other_, lie_in_other(), items_, order_}, words_, header_);
    }

    cudaError_t groups(int sms) const {
        return launch_with_shared(sort_groups<group, Key>,
                                  {static_cast<unsigned>(sms * group::blocks_per_sm),
                                   group::threads, sizeof(group_shared<group, Key>)},
                                  stream_, {keys_, other_, lie_in_other(), items_, order_}, words_,
                                  header_);
    }

    radix_header* header_;
    bucket_words words_;
    Key* keys_;
    Key* other_;
    index_t items_;
    core::key_order<Key> order_;
    bucket_shape shape_;
    cudaStream_t stream_;
};

template <class Key>
cudaError_t sort_in_one_block(Key* keys, index_t n, const core::key_order<Key>& order,
                              int begin_bit, int end_bit, cudaStream_t stream) {
    using group = tuning::single_block_policy<Key>;
    const bool whole = begin_bit == 0 && end_bit == 8 * static_cast<int>(sizeof(Key));
    return launch_with_shared(sort_one_block<group, Key>,
                              {1, group::threads, sizeof(group_shared<group, Key>)}, stream, keys,
                              static_cast<int>(n), order, begin_bit, end_bit, !whole);
}

}  // namespace lookback::device
