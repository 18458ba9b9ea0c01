// Level L5 (device): one block sorts a bucket in shared memory: by its highest differing bits into
// bins of two keys or so, then in windows of 16 keys, each in the registers of a thread, that
// overlap by half. Invariant: keys are ordered numbers whose equal values are identical; gives up,
// and says so, where bins are much larger. Source: docs/decisions/0011-cuda-sort.md.
#pragma once

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/core/sorting_network.hpp>
#include <lookback/kernels/device/radix_bucket_plan.cuh>

namespace lookback::device {

template <class P, class Key>
struct window_shared {
    /// Keys, or their low halves, as words of at least 4 bytes.
    alignas(16) unsigned char stage[P::stage_items * (sizeof(Key) < 4 ? 4 : sizeof(Key))];
    alignas(16) std::uint32_t bins[P::bins];  ///< keys; later where the next one is staged
    std::uint32_t sums[P::warps];
    std::uint32_t differ[2];  ///< bits in which keys differ; low half first
};

/// Slots of keys in shared memory, so dealt out that threads that read neighbouring windows meet in
/// no bank.
template <class Word>
class window_stage {
public:
    static constexpr int items = core::network_items;
    static constexpr int lane_items = 16 / static_cast<int>(sizeof(Word));

    __device__ __forceinline__ explicit window_stage(void* memory)
        : words_(static_cast<Word*>(memory)) {}

    __device__ __forceinline__ Word& operator[](std::uint32_t slot) const {
        return words_[slot ^ (slot >> 3 & (items - lane_items))];
    }
    /// Sorts the window that begins at a slot divisible by 8.
    __device__ __forceinline__ void sort(std::uint32_t begin) const {
        Word window[items];
#pragma unroll
        for (int i = 0; i < items; i += lane_items) {
            const uint4 part = *vector_at(begin + i);
            memcpy(window + i, &part, sizeof(part));
        }
        core::sort_16(window);
#pragma unroll
        for (int i = 0; i < items; i += lane_items) {
            uint4 part;
            memcpy(&part, window + i, sizeof(part));
            *vector_at(begin + i) = part;
        }
    }

private:
    __device__ __forceinline__ uint4* vector_at(std::uint32_t slot) const {
        return reinterpret_cast<uint4*>(&(*this)[slot]);
    }

    Word* words_;
};

template <class P, class Key>
class window_sorter {
public:
    using shared_memory = window_shared<P, Key>;

    /// 1 <= size <= P::tile_items.
    __device__ __forceinline__ window_sorter(shared_memory& shared, int size)
        : shared_(shared), size_(static_cast<std::uint32_t>(size)) {}

    /// `order` makes numbers of what is read.
    template <class Order>
    __device__ __forceinline__ void load(const Key* from, Order order) {
        first_ = order(from[0]);
        each_row(
            [&](Key* keys, std::uint32_t place) {
#pragma unroll
                for (int i = 0; i < few; ++i) {
                    keys[i] = order(from[place + static_cast<std::uint32_t>(i * P::threads)]);
                }
            },
            [&](Key& key, std::uint32_t place) { key = order(from[place]); });
    }

    /// False: the keys do not suit this way; nothing was written but shared memory. Ends in a
    /// barrier.
    __device__ __forceinline__ bool sort() {
        const std::uint64_t differ = differing_bits();
        width_ = differ == 0 ? 0 : core::highest_bit_64(differ) + 1;
        if constexpr (sizeof(Key) > 4) {
            if (width_ > 32) return sort_as<Key>();
        }
        return sort_as<std::uint32_t>();
    }
    /// `restore` makes keys of numbers.
    template <class Restore>
    __device__ __forceinline__ void write(Key* to, Restore restore) const {
        if constexpr (sizeof(Key) > 4) {
            if (width_ > 32) {
                write_words<Key>(to, restore);
                return;
            }
        }
        constexpr Key low_half = static_cast<Key>(0xffffffffU);
        const Key high = first_ & static_cast<Key>(~low_half);
        write_words<std::uint32_t>(
            to, [&](std::uint32_t low) { return restore(static_cast<Key>(high | low)); });
    }

private:
    static_assert(P::rows % 4 == 0);
    static_assert(P::threads % 128 == 0, "a thread's slots must all be dealt out alike");
    static constexpr int window = core::network_items;
    static constexpr int few = 4;
    static constexpr int bin_bits = P::bin_bits;

    /// Body of where the thread's keys are, four rows that all threads have at a time (a look at
    /// each row would cost as much as the work), then what is left row by row.
    template <class Four, class One>
    __device__ __forceinline__ void each_row(Four four, One one) {
        int row = 0;
#pragma unroll
        for (; row < P::rows; row += few) {
            if ((row + few) * P::threads > static_cast<int>(size_)) break;
            four(keys_ + row, place_of(row));
        }
        const std::uint32_t left = size_ / (few * P::threads) * (few * P::threads) + threadIdx.x;
#pragma unroll
        for (int i = 0; i < few; ++i) {
            const std::uint32_t place = left + static_cast<std::uint32_t>(i * P::threads);
            if (place < size_) one(left_[i], place);
        }
    }
    template <class Word, class Restore>
    __device__ __forceinline__ void write_words(Key* to, Restore restore) const {
        const Word* own = &window_stage<Word>(shared_.stage)[threadIdx.x];
        to += threadIdx.x;
        const std::uint32_t end = size_ > threadIdx.x ? size_ - threadIdx.x : 0;
#pragma unroll 8
        for (std::uint32_t row = 0; row < end; row += P::threads) to[row] = restore(own[row]);
    }
    __device__ __forceinline__ static std::uint32_t place_of(int row) {
        return static_cast<std::uint32_t>(row * P::threads) + threadIdx.x;
    }
    /// Body of one to four of the thread's keys at a time, as an array.
    template <class Body>
    __device__ __forceinline__ void each_few(Body body) {
        each_row(
            [&](const Key* keys, std::uint32_t) {
                const Key some[few] = {keys[0], keys[1], keys[2], keys[3]};
                body(some);
            },
            [&](Key key, std::uint32_t) {
                const Key some[1] = {key};
                body(some);
            });
    }

    /// Bits in which any key differs from the first one; clears the bins, too. Ends in a barrier.
    __device__ __forceinline__ std::uint64_t differing_bits() {
        const int thread = static_cast<int>(threadIdx.x);
        if (thread < 2) shared_.differ[thread] = 0;
        for (int i = thread; i < P::bins; i += P::threads) shared_.bins[i] = 0;
        arch::sync_block();  // differ is clear
        Key differ = 0;
        each_few([&](const auto& some) {
            for (const Key key : some) differ |= key ^ first_;
        });
        differ =
            warp::reduce_any_order(differ, [](Key a, Key b) { return static_cast<Key>(a | b); });
        if (arch::lane() == 0) {
            const std::uint64_t bits = differ;
            arch::set_bits(&shared_.differ[0], static_cast<std::uint32_t>(bits));
            if constexpr (sizeof(Key) > 4) {
                arch::set_bits(&shared_.differ[1], static_cast<std::uint32_t>(bits >> 32));
            }
        }
        arch::sync_block();  // all warps' bits are in, bins are clear
        return std::uint64_t{shared_.differ[1]} << 32 | shared_.differ[0];
    }

    /// By the part of the keys that a word holds: all bits above are the same.
    template <class Word>
    __device__ __forceinline__ bool sort_as() {
        const int shift = width_ > bin_bits ? width_ - bin_bits : 0;
        const auto bin = [&](Key key) {
            return static_cast<std::uint32_t>(key >> shift) & (P::bins - 1U);
        };
        each_few([&](const auto& some) {
            for (const Key key : some) arch::count_up(&shared_.bins[bin(key)]);
        });
        arch::sync_block();  // bins are counted
        begin_bins();
        const window_stage<Word> stage(shared_.stage);
        each_few([&](const auto& some) {
            constexpr int count = sizeof(some) / sizeof(Key);
            std::uint32_t slots[count];  // all asked for before the first is needed
#pragma unroll
            for (int i = 0; i < count; ++i) {
                slots[i] = arch::fetch_add(&shared_.bins[bin(some[i])], 1);
            }
#pragma unroll
            for (int i = 0; i < count; ++i) stage[slots[i]] = static_cast<Word>(some[i]);
        });
        // The last windows are filled up with what stands behind all keys.
        const std::uint32_t pad = (size_ + window - 1) / window * window + window - size_;
        if (threadIdx.x < pad) stage[size_ + threadIdx.x] = static_cast<Word>(~Word{0});
        arch::sync_block();  // keys are staged
        return shift == 0 || sort_windows(stage);
    }

    /// Exclusive sums of the bins' counts. Ends in a barrier.
    __device__ __forceinline__ void begin_bins() {
        constexpr int own = P::bins / P::threads;
        static_assert(own % 4 == 0 && P::bins % P::threads == 0);
        const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
        auto* bins = reinterpret_cast<uint4*>(shared_.bins) + threadIdx.x * (own / 4);
        std::uint32_t counts[own];
        std::uint32_t sum = 0;
#pragma unroll
        for (int i = 0; i < own; i += 4) {
            const uint4 part = bins[i / 4];
            memcpy(counts + i, &part, sizeof(part));
        }
#pragma unroll
        for (int i = 0; i < own; ++i) sum += counts[i];
        const std::uint32_t up_to = warp::inclusive_scan(sum, plus);
        const int warp = arch::warp();
        if (arch::lane() == arch::warp_lanes - 1) shared_.sums[warp] = up_to;
        arch::sync_block();  // warps' sums are written
        std::uint32_t before = arch::lane() < warp ? shared_.sums[arch::lane()] : 0;
        before = warp::reduce_any_order(before, plus) + up_to - sum;
#pragma unroll
        for (int i = 0; i < own; ++i) {
            const std::uint32_t count = counts[i];
            counts[i] = before;
            before += count;
        }
#pragma unroll
        for (int i = 0; i < own; i += 4) {
            uint4 part;
            memcpy(&part, counts + i, sizeof(part));
            bins[i / 4] = part;
        }
        arch::sync_block();  // begins are written
    }

    /// Whole windows, then those half a window further, until they meet in order: a bin of up to
    /// nine keys is in order after one round. Ends in a barrier.
    template <class Word>
    __device__ __forceinline__ bool sort_windows(const window_stage<Word>& stage) {
        for (int round = 0; round < P::most_rounds; ++round) {
            sort_windows_from(stage, 0);
            sort_windows_from(stage, window / 2);
            bool meet_in_order = true;
            for (std::uint32_t at = threadIdx.x * window + window / 2; at < size_;
                 at += P::threads * window) {
                meet_in_order = meet_in_order && stage[at - 1] <= stage[at];
            }
            if (!arch::any_in_block(!meet_in_order)) return true;
        }
        return false;
    }
    template <class Word>
    __device__ __forceinline__ void sort_windows_from(const window_stage<Word>& stage,
                                                      std::uint32_t begin) {
        for (std::uint32_t at = begin + threadIdx.x * window; at < size_;
             at += P::threads * window) {
            stage.sort(at);
        }
        arch::sync_block();  // windows are sorted
    }

    shared_memory& shared_;
    std::uint32_t size_;
    int width_ = 0;  ///< bits above are the same in all keys
    Key first_{};
    Key keys_[P::rows];
    Key left_[few];
};

/// Each block one bucket: from `in` to the same places of `out`, which may be `in`. Buckets that
/// are too large were set aside; those that do not suit windows are added to them.
template <class P, class Key>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    sort_buckets(const Key* in, Key* out, core::key_order<Key> order, bucket_words words,
                 const radix_header* header) {
    if (header->by_buckets == 0) return;
    auto& shared = *static_cast<window_shared<P, Key>*>(arch::dynamic_shared());
    const std::uint32_t bucket = arch::block_number();
    const std::uint32_t begin = words.begins[bucket];
    const std::uint32_t size = words.begins[bucket + 1] - begin;
    if (size == 0 || size > P::tile_items) return;
    window_sorter<P, Key> keys(shared, static_cast<int>(size));
    keys.load(in + begin, [](Key key) { return key; });
    if (keys.sort()) {
        keys.write(out + begin, [&](Key ordered) { return order.restored(ordered); });
    } else if (threadIdx.x == 0) {
        words.add_group(begin, size, in != out);
    }
}

}  // namespace lookback::device
