// Level L5 (device): an array in the shared memory of one block, and words of its places, which
// passes by a digit put in order. Invariant: a pass by ballots is stable; a fast one is if lanes
// that meet in an atomic are served in their order, which its user must check.
#pragma once

#include <lookback/kernels/device/radix_pass.cuh>

namespace lookback::device {

template <class P, class Key, class Value>
struct local_shared {
    static constexpr int value_items = has_value<Value> ? P::tile_items : 1;

    alignas(16) Key keys[P::tile_items];
    alignas(16) Value values[value_items];
    alignas(16) std::uint32_t cursors[P::warps][digits];
    std::uint32_t before_order;  ///< zero
    std::uint32_t order[P::tile_items];
    std::uint32_t sums[digits / arch::warp_lanes];
    std::uint32_t differ[2];  ///< bits in which keys differ from the first one; low half first
    std::uint32_t refused;    ///< not 0: places were found out of order
    std::uint32_t crowded;    ///< not 0: long runs agree in the bits that were looked at
    std::uint32_t runs;       ///< that agree there
};

/// Which array or bucket, and where it goes; null: is not wanted.
template <class Key, class Value>
struct local_job {
    const Key* keys_from;
    Key* keys_to;
    const Value* values_from;  ///< null: values are places in the array
    Value* values_to;
    int size;
    int begin_bit;
    int end_bit;
};

template <class P, class Key, class Value>
class local_places {
public:
    using shared_memory = local_shared<P, Key, Value>;
    using job_type = local_job<Key, Value>;

    __device__ __forceinline__ local_places(shared_memory& shared,
                                            const core::key_order<Key>& order, const job_type& job)
        : shared_(shared),
          job_(job),
          order_(order),
          rows_(core::ceil_div(job.size, P::threads)),
          first_(arch::warp() * rows_ * arch::warp_lanes + arch::lane()) {}

protected:
    /// A word of the order: a place in the array, and above it what the item is sorted by.
    static constexpr int place_bits = 13;

    __device__ __forceinline__ static std::uint32_t place_in(std::uint32_t word) {
        return word & ((1U << place_bits) - 1);
    }
    __device__ __forceinline__ Key key_of(std::uint32_t word) const {
        return ordered(shared_.keys[place_in(word)]);
    }
    __device__ __forceinline__ int place_of(int row) const {
        return first_ + row * arch::warp_lanes;
    }
    template <class Body>
    __device__ __forceinline__ void each_row(Body body) {
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (row >= rows_) break;
            body(row, place_of(row), place_of(row) < job_.size);
        }
    }
    /// The part of a key by which to sort, as a number.
    __device__ __forceinline__ Key ordered(Key key) const {
        constexpr int width = 8 * static_cast<int>(sizeof(Key));
        const Key up = static_cast<Key>(order_(key) << (width - job_.end_bit));
        return static_cast<Key>(up >> (width - job_.end_bit + job_.begin_bit));
    }
    /// Words from the order to registers.
    __device__ __forceinline__ void take_back(std::uint32_t (&words)[P::rows]) {
        arch::sync_block();  // the order is written
        each_row([&](int row, int place, bool is_item) {
            if (is_item) words[row] = shared_.order[place];
        });
    }

    /// Puts the words into the order by one digit, stably: carefully, or fast.
    template <class DigitOf>
    __device__ __forceinline__ void pass(const std::uint32_t (&words)[P::rows], DigitOf digit_of,
                                         bool carefully) {
        std::uint32_t* own = shared_.cursors[arch::warp()];
        auto* clear = reinterpret_cast<uint4*>(own);
#pragma unroll
        for (int i = 0; i < digits / 4; i += arch::warp_lanes) {
            clear[i + arch::lane()] = make_uint4(0, 0, 0, 0);
        }
        arch::sync_warp();  // counts are clear
        each_row([&](int row, int, bool is_item) {
            if (is_item) arch::count_up(own + digit_of(words[row]));
        });
        arch::sync_block();  // all warps' counts are whole, words are taken back
        lay_out();
        arch::sync_block();  // first slots are written
        if (carefully) {
            take_slots_by_ballots(own, words, digit_of);
            return;
        }
        constexpr int batch = P::rows % 4 == 0 ? 4 : 3;
#pragma unroll
        for (int first = 0; first < P::rows; first += batch) {
            if (first >= rows_) break;
            // Several atomics on their way before the first of their answers is needed.
            std::uint32_t slots[batch];
#pragma unroll
            for (int i = 0; i < batch && first + i < P::rows; ++i) {
                const bool is_item = first + i < rows_ && place_of(first + i) < job_.size;
                if (is_item) slots[i] = arch::fetch_add(own + digit_of(words[first + i]), 1);
            }
#pragma unroll
            for (int i = 0; i < batch && first + i < P::rows; ++i) {
                const bool is_item = first + i < rows_ && place_of(first + i) < job_.size;
                if (is_item) shared_.order[slots[i]] = words[first + i];
            }
        }
    }

    /// Turns the warps' counts into their first slots.
    __device__ __forceinline__ void lay_out() {
        const int digit = static_cast<int>(threadIdx.x);
        block::packed_numbers<P::warps> counts;
        std::uint32_t count = 0;
        if (digit < digits) {
#pragma unroll
            for (int warp = 0; warp < P::warps; ++warp) {
                const std::uint32_t here = shared_.cursors[warp][digit];
                counts.set(warp, here);
                count += here;
            }
        }
        std::uint32_t slot = block::exclusive_digit_sum(count, shared_.sums);
        if (digit < digits) {
#pragma unroll
            for (int warp = 0; warp < P::warps; ++warp) {
                shared_.cursors[warp][digit] = slot;
                slot += counts.get(warp);
            }
        }
    }

    template <class DigitOf>
    __device__ __forceinline__ void take_slots_by_ballots(std::uint32_t* own,
                                                          const std::uint32_t (&words)[P::rows],
                                                          DigitOf digit_of) {
        each_row([&](int row, int, bool is_item) {
            const std::uint32_t digit = is_item ? digit_of(words[row]) : 0;
            const std::uint32_t peers = block::peers_by_ballots(digit) & arch::ballot(is_item);
            const std::uint32_t slot =
                own[digit] +
                static_cast<std::uint32_t>(arch::bit_count(peers & arch::lanes_below()));
            arch::sync_warp();  // cursors are read
            if (is_item) {
                shared_.order[slot] = words[row];
                if (core::highest_bit(peers) == arch::lane()) own[digit] = slot + 1;
            }
            arch::sync_warp();  // ... and ready for the next row
        });
    }

    shared_memory& shared_;
    job_type job_;

private:
    core::key_order<Key> order_;
    int rows_;
    int first_;  ///< the thread's first place

    static_assert(P::tile_items <= 1 << place_bits, "a place has so many bits");
};

}  // namespace lookback::device
