// Level L5 (device): one block sorts one bucket, or a small array, in shared memory.
// Invariant: right whatever the keys and the order in which colliding atomics answer: fast passes
// are checked, and what fails is sorted again by stable passes over all bits. Source:
// docs/decisions/0011-cuda-sort.md.
#pragma once

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/device/radix_windows.cuh>

namespace lookback::device {

template <class P, class Key>
struct bucket_shared {
    union {
        block::rank_cell cells[P::warps][digits];  ///< stable passes
        std::uint32_t by_warp[P::warps][digits];   ///< fast second pass
        std::uint32_t runs[P::warps * digits];     ///< first key | keys << 16
    };
    Key stage[P::tile_items];
    std::uint32_t counts[digits];
    std::uint32_t sums[digits / arch::warp_lanes];
    std::uint32_t out_of_order;  ///< not 0: the fast way failed
    std::uint32_t run_count;
    std::uint32_t differ[2];  ///< bits in which keys differ from the first one; low half first
};

template <class P, class Key>
class bucket_sorter {
public:
    using shared_memory = bucket_shared<P, Key>;

    /// 1 <= size <= P::tile_items.
    __device__ __forceinline__ bucket_sorter(shared_memory& shared,
                                             const core::key_order<Key>& order, int size)
        : shared_(shared),
          order_(order),
          size_(size),
          rows_(core::ceil_div(size, P::threads)),
          first_(arch::warp() * rows_ * arch::warp_lanes + arch::lane()) {}

    template <class Order>
    __device__ __forceinline__ void load(const Key* from, Order order) {
        each_row([&](int row) { keys_[row] = order(from[place_of(row)]); });
    }

    /// For keys whose equal values are identical.
    __device__ __forceinline__ void sort_fast() {
        const std::uint64_t differ = differing_bits();
        if (differ == 0) {
            each_row([&](int row) { shared_.stage[place_of(row)] = keys_[row]; });
            arch::sync_block();  // keys are staged
            return;
        }
        constexpr int most = 2 * block::digit_bits;
        const int high = core::highest_bit_64(differ) + 1;
        const int lowest = core::highest_bit_64(differ & (0 - differ));
        const int low = high - most > lowest ? high - most : lowest;
        const int width = high - low;
        if (width > block::digit_bits) {
            any_order_pass(place(low, block::digit_bits));
            take_back();
            lane_order_pass(place(low + block::digit_bits, width - block::digit_bits));
        } else {
            any_order_pass(place(low, width));
        }
        find_runs(low, low > lowest);
        if (shared_.out_of_order != 0) {
            take_back();
            sort_stably(lowest, high);
        } else if (low > lowest) {
            mend_runs();
        }
    }

    /// By bits [begin, end), for any keys in their first order, in registers.
    __device__ __forceinline__ void sort_stably(int begin, int end) {
        for (int low = begin; low < end; low += block::digit_bits) {
            if (low > begin) take_back();
            const int left = end - low;
            stable_pass(place(low, left < block::digit_bits ? left : block::digit_bits));
        }
    }

    template <class Restore>
    __device__ __forceinline__ void write(Key* to, Restore restore) const {
        for (int i = static_cast<int>(threadIdx.x); i < size_; i += P::threads) {
            to[i] = restore(shared_.stage[i]);
        }
    }

private:
    __device__ __forceinline__ digit_place<Key> place(int shift, int bits) const {
        return {order_, shift, (1U << bits) - 1};
    }
    __device__ __forceinline__ int place_of(int row) const {
        return first_ + row * arch::warp_lanes;
    }
    template <class Body>
    __device__ __forceinline__ void each_row(Body body) {
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (row >= rows_) break;
            if (place_of(row) < size_) body(row);
        }
    }
    /// Keys from the stage to registers, in their present order.
    __device__ __forceinline__ void take_back() {
        each_row([&](int row) { keys_[row] = shared_.stage[place_of(row)]; });
        arch::sync_block();  // the stage may be written again
    }
    __device__ __forceinline__ void clear_counts() {
        const int thread = static_cast<int>(threadIdx.x);
        if (thread < digits) shared_.counts[thread] = 0;
        arch::sync_block();  // counts are clear
    }

    /// Bits in which any two ordered keys differ.
    __device__ __forceinline__ std::uint64_t differing_bits() {
        if (threadIdx.x == 0) {
            shared_.stage[0] = keys_[0];
            shared_.differ[0] = shared_.differ[1] = 0;
        }
        arch::sync_block();  // the first key is there
        const Key first = order_(shared_.stage[0]);
        std::uint64_t differ = 0;
        each_row([&](int row) { differ |= static_cast<Key>(order_(keys_[row]) ^ first); });
        const auto either = [](std::uint64_t a, std::uint64_t b) { return a | b; };
        differ = warp::reduce_any_order(differ, either);
        if (arch::lane() == 0) {
            arch::set_bits(&shared_.differ[0], static_cast<std::uint32_t>(differ));
            arch::set_bits(&shared_.differ[1], static_cast<std::uint32_t>(differ >> 32));
        }
        arch::sync_block();  // all warps' bits are in
        return std::uint64_t{shared_.differ[1]} << 32 | shared_.differ[0];
    }

    /// Equal digits in any order.
    __device__ __forceinline__ void any_order_pass(const digit_place<Key>& digit) {
        const int thread = static_cast<int>(threadIdx.x);
        clear_counts();
        each_row([&](int row) {
            ranks_.set(row, arch::fetch_add(&shared_.counts[digit(keys_[row])], 1));
        });
        arch::sync_block();  // counts are whole
        const std::uint32_t count = thread < digits ? shared_.counts[thread] : 0;
        const std::uint32_t first = block::exclusive_digit_sum(count, shared_.sums);
        if (thread < digits) shared_.counts[thread] = first;
        arch::sync_block();  // first slots are written
        each_row([&](int row) {
            shared_.stage[shared_.counts[digit(keys_[row])] + ranks_.get(row)] = keys_[row];
        });
        arch::sync_block();  // keys are staged
    }

    /// Stable if colliding lanes of one atomic instruction are served in their order, as they were
    /// in all measurements; nothing promises it, so the result is checked.
    __device__ __forceinline__ void lane_order_pass(const digit_place<Key>& digit) {
        std::uint32_t* own = shared_.by_warp[arch::warp()];
        for (int i = arch::lane(); i < digits; i += arch::warp_lanes) own[i] = 0;
        arch::sync_warp();  // counts are clear
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (row >= rows_) break;
            if (place_of(row) < size_) {
                ranks_.set(row, arch::fetch_add(own + digit(keys_[row]), 1));
            }
            arch::sync_warp();  // rows take their ranks one after the other
        }
        arch::sync_block();  // all warps' counts are whole
        const int thread = static_cast<int>(threadIdx.x);
        std::uint32_t count = 0;
        if (thread < digits) {
#pragma unroll
            for (int warp = 0; warp < P::warps; ++warp) count += shared_.by_warp[warp][thread];
        }
        std::uint32_t slot = block::exclusive_digit_sum(count, shared_.sums);
        if (thread < digits) {
#pragma unroll
            for (int warp = 0; warp < P::warps; ++warp) {
                const std::uint32_t here = shared_.by_warp[warp][thread];
                shared_.by_warp[warp][thread] = slot;
                slot += here;
            }
        }
        arch::sync_block();  // first slots are written
        each_row(
            [&](int row) { shared_.stage[own[digit(keys_[row])] + ranks_.get(row)] = keys_[row]; });
        arch::sync_block();  // keys are staged
    }

    __device__ __forceinline__ void stable_pass(const digit_place<Key>& digit) {
        block::rank_cell* own = shared_.cells[arch::warp()];
        block::warp_ranks ranks(own, block::no_digit);
        // Lanes beyond the end come last, with the last digit: they take no slot from any key.
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (row >= rows_) break;
            ranks_.set(row, ranks.rank(place_of(row) < size_ ? digit(keys_[row]) : digit.mask));
            if (row % 4 == 0) ranks.look_at_crowding();
        }
        arch::sync_block();  // all warps' counts are whole
        const int thread = static_cast<int>(threadIdx.x);
        std::uint32_t count = 0;
        if (thread < digits) {
            for (int warp = 0; warp < P::warps; ++warp) count += shared_.cells[warp][thread].count;
        }
        std::uint32_t slot = block::exclusive_digit_sum(count, shared_.sums);
        if (thread < digits) {
            for (int warp = 0; warp < P::warps; ++warp) {
                const std::uint32_t here = shared_.cells[warp][thread].count;
                shared_.cells[warp][thread].count = slot;
                slot += here;
            }
        }
        arch::sync_block();  // first slots are written
        each_row([&](int row) {
            shared_.stage[own[digit(keys_[row])].count + ranks_.get(row)] = keys_[row];
        });
        arch::sync_block();  // keys are staged
    }

    /// Keys should be sorted from bit `low` up: tells where they are not, and lists the runs that
    /// agree there, if these matter. Ends in a barrier.
    __device__ __forceinline__ void find_runs(int low, bool matter) {
        if (threadIdx.x == 0) shared_.out_of_order = shared_.run_count = 0;
        arch::sync_block();  // flag and count are clear
        const auto top = [&](int i) { return static_cast<Key>(order_(shared_.stage[i]) >> low); };
        for (int i = static_cast<int>(threadIdx.x); i + 1 < size_; i += P::threads) {
            const Key own = top(i);
            const Key next = top(i + 1);
            if (next < own) shared_.out_of_order = 1;
            if (!matter || next != own || (i > 0 && top(i - 1) == own)) continue;
            int end = i + 2;
            while (end < size_ && end - i <= longest_run && top(end) == own) ++end;
            const std::uint32_t run = arch::fetch_add(&shared_.run_count, 1);
            if (end - i > longest_run || run >= P::warps * digits) {
                shared_.out_of_order = 1;
            } else {
                shared_.runs[run] = static_cast<std::uint32_t>(i | (end - i) << 16);
            }
        }
        arch::sync_block();  // runs are listed
    }

    /// Sorts the listed runs, a thread each. Ends in a barrier.
    __device__ __forceinline__ void mend_runs() {
        for (std::uint32_t run = threadIdx.x; run < shared_.run_count; run += P::threads) {
            Key* stage = shared_.stage + (shared_.runs[run] & 0xffffU);
            const int size = static_cast<int>(shared_.runs[run] >> 16);
            for (int unsorted = 1; unsorted < size; ++unsorted) {
                const Key key = stage[unsorted];
                int hole = unsorted;
                for (; hole > 0 && order_(key) < order_(stage[hole - 1]); --hole) {
                    stage[hole] = stage[hole - 1];
                }
                stage[hole] = key;
            }
        }
        arch::sync_block();  // runs are sorted
    }

    static constexpr int longest_run = 16;

    shared_memory& shared_;
    core::key_order<Key> order_;
    int size_;
    int rows_;
    int first_;  ///< the thread's first key
    Key keys_[P::rows];
    block::packed_numbers<P::rows> ranks_;
};

/// Keys of one block in either way.
template <class P, class Key>
union group_shared {
    window_shared<P, Key> windows;
    bucket_shared<P, Key> passes;
};

/// Sorts `size` keys that `order` makes numbers of, equal ones identical, to the same places of
/// `to`, which may be `from`. Ends in a barrier.
template <class P, class Key, class Order, class Restore>
__device__ __forceinline__ void sort_group(group_shared<P, Key>& shared, const Key* from, Key* to,
                                           int size, Order order, Restore restore) {
    bool sorted = false;
    {
        window_sorter<P, Key> keys(shared.windows, size);
        keys.load(from, order);
        sorted = keys.sort();
        if (sorted) keys.write(to, restore);
    }
    if (!sorted) {
        bucket_sorter<P, Key> keys(shared.passes, {}, size);
        keys.load(from, order);
        keys.sort_fast();
        keys.write(to, restore);
    }
    arch::sync_block();  // what is staged is read
}

/// A whole array in one block, in place; stably where equal keys may differ.
template <class P, class Key>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    sort_one_block(Key* keys, int size, core::key_order<Key> order, int begin_bit, int end_bit,
                   bool stably) {
    auto& shared = *static_cast<group_shared<P, Key>*>(arch::dynamic_shared());
    bool some_ambiguous = false;
    if (!stably && order.floating) {
        for (int i = static_cast<int>(threadIdx.x); i < size; i += P::threads) {
            some_ambiguous = some_ambiguous || order.is_ambiguous(keys[i]);
        }
        some_ambiguous = arch::any_in_block(some_ambiguous);
    }
    if (stably || some_ambiguous) {
        bucket_sorter<P, Key> sorter(shared.passes, order, size);
        sorter.load(keys, [](Key key) { return key; });
        sorter.sort_stably(begin_bit, end_bit);
        sorter.write(keys, [](Key key) { return key; });
    } else {
        sort_group<P, Key>(
            shared, keys, keys, size, [&](Key key) { return order.of_unambiguous(key); },
            [&](Key ordered) { return order.restored(ordered); });
    }
}

}  // namespace lookback::device
