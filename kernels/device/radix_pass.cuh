// Level L5 (device): one pass of a radix sort: every tile is sorted by one digit and appended to
// the runs of that digit. One read and one write of keys and values. Invariant: stable; progress
// depends on no order of dispatch, because tiles are taken by ticket. Source: Adinets and Merrill,
// "Onesweep" (2022).
#pragma once

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/arch/prefetch.cuh>
#include <lookback/kernels/device/radix_plan.cuh>
#include <lookback/kernels/tile/digit_window.cuh>

namespace lookback::device {

/// Where keys and values lie. Pass 0 reads the input; pass j writes to `other` where j is even and
/// to `result` where it is odd; an index, which must end up in `result`, the other way where passes
/// are odd.
template <class Key, class Value>
struct radix_buffers {
    const Key* in;
    Key* result;  ///< in place: the input as well; argsort: a second temporary
    Key* other;
    Value* values;  ///< the result, and the input but for an index
    Value* other_values;

    __device__ const Key* keys_from(int pass) const { return pass == 0 ? in : keys_to(pass - 1); }
    __device__ Key* keys_to(int pass) const { return pass % 2 == 0 ? other : result; }
    __device__ Value* values_to(int pass, const radix_plan& plan, const radix_shape& shape) const {
        const bool away = shape.makes_index ? (plan.passes - 1 - pass) % 2 != 0 : pass % 2 == 0;
        return away ? other_values : values;
    }
};

/// Which launch this is.
struct pass_launch {
    int place;
    bool top;                  ///< blocks sort buckets afterwards
    int shift;                 ///< the place's lowest bit
    std::uint32_t digit_mask;  ///< 255, or less where fewer bits are left
    index_t portion;
    index_t begin;  ///< items of the portion: [begin, begin + items)
    index_t items;
    index_t tiles;
};

/// Where the pass reads and writes.
template <class Key, class Value>
__device__ __forceinline__ tile_common common_of(const radix_buffers<Key, Value>& buffers,
                                                 const radix_shape& shape, const radix_plan& plan,
                                                 int pass, bool top) {
    const bool keeps_keys = shape.in_place || top || pass + 1 < plan.passes;
    const Value* values_from =
        pass == 0 ? buffers.values : buffers.values_to(pass - 1, plan, shape);
    return {buffers.keys_from(pass),
            keeps_keys ? buffers.keys_to(pass) : nullptr,
            shape.makes_index && pass == 0 ? nullptr : values_from,
            buffers.values_to(pass, plan, shape),
            nullptr,
            0};
}

/// One block's way through the tiles of a pass: its first P::workers threads move items, the others
/// help: each of them looks back for two digits while the workers take slots.
template <class P, class Key, class Value>
class pass_block {
public:
    using shared_memory = radix_shared<P, Key, Value>;

    __device__ __forceinline__ pass_block(shared_memory& shared, const radix_words& words,
                                          const pass_launch& launch,
                                          const core::key_order<Key>& order)
        : shared_(shared),
          words_(words),
          launch_(launch),
          place_{order, launch.shift, launch.digit_mask},
          items_(shared),
          works_(arch::warp() < P::warps) {}

    __device__ __forceinline__ void run() {
        if (!works_) {
            clear_cursors();
            if (helper() == 0) shared_.before_order = 0;
        }
        if (threadIdx.x == 0) {
            shared_.refused = 0;
            shared_.tile = ticket();
        }
        for (index_t tile = 0;;) {
            arch::sync_block();  // the ticket is there, the tile is written, the cursors are clear
            if (shared_.refused != 0) arrange_again(tile);
            tile = shared_.tile;
            if (tile >= launch_.tiles) return;
            arrange(tile);
            if (works_) {
                write_and_take_ticket(tile);
            } else {
                prefetch(tile + gridDim.x);
                clear_cursors();
            }
        }
    }

private:
    __device__ __forceinline__ int helper() const {
        return static_cast<int>(threadIdx.x) - P::workers;
    }
    __device__ __forceinline__ int size(index_t tile) const {
        return static_cast<int>(core::tile_shape{launch_.items, P::tile_items}.size(tile));
    }
    /// Number of the tile's first item in the array.
    __device__ __forceinline__ index_t begin(index_t tile) const {
        return launch_.begin + tile * P::tile_items;
    }
    __device__ __forceinline__ index_t ticket() const {
        return static_cast<index_t>(arch::add(words_.ticket(launch_.place, launch_.portion), 1));
    }
    __device__ __forceinline__ void clear_cursors() {
        if (helper() == 0) shared_.hot_count = 0;
        auto* cursors = reinterpret_cast<uint4*>(&shared_.cursors[0][0]);
        for (int i = helper(); i < P::warps * digits / 4; i += P::helpers) {
            cursors[i] = make_uint4(0, 0, 0, 0);
        }
    }

    /// A tile that some block will soon load, so that it comes from L2.
    __device__ __forceinline__ void prefetch(index_t tile) {
        if (helper() != 0 || tile + 1 >= launch_.tiles) return;
        arch::prefetch_to_l2(static_cast<const Key*>(shared_.common.keys_from) + begin(tile),
                             P::tile_items * sizeof(Key));
        if constexpr (has_value<Value>) {
            const auto* values = static_cast<const Value*>(shared_.common.values_from);
            if (values != nullptr) {
                arch::prefetch_to_l2(values + begin(tile), P::tile_items * sizeof(Value));
            }
        }
    }

    /// Brings the tile into order in shared memory and learns where its runs go.
    __device__ __forceinline__ void arrange(index_t tile) {
        if (works_) {
            items_.load_keys(static_cast<const Key*>(shared_.common.keys_from) + begin(tile),
                             place_, size(tile));
            if constexpr (has_value<Value>) {
                const auto* from = static_cast<const Value*>(shared_.common.values_from);
                if (from != nullptr) items_.copy_values(from + begin(tile), size(tile));
            }
        }
        arch::sync_block();  // all warps' counts are written
        lay_out(tile);
        arch::sync_block();  // the warps' first slots are written
        if (works_) {
            items_.take_slots(place_, size(tile));
            arch::wait_for_all_copies();
        } else {
            look_back(tile);
        }
        arch::sync_block();  // the order, the values and the origins are written
    }

    /// Turns the warps' counts of a digit into their first slots, and tells other tiles the sums.
    /// Ends before a barrier.
    __device__ __forceinline__ void lay_out(index_t tile) {
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
            shared_.counts[digit] = count;
            if (count > static_cast<std::uint32_t>(size(tile)) / 8) {
                const std::uint32_t number = arch::fetch_add(&shared_.hot_count, 1);
                if (number < most_hot) shared_.hot[number] = static_cast<std::uint32_t>(digit);
            }
        }
        // Has a barrier, after which the counts can be read.
        std::uint32_t slot = block::exclusive_digit_sum(count, shared_.sums);
        if (!works_) publish(tile);
        if (digit < digits) {
            shared_.firsts[digit] = slot;
#pragma unroll
            for (int warp = 0; warp < P::warps; ++warp) {
                shared_.cursors[warp][digit] = slot;
                slot += counts.get(warp);
            }
        }
    }

    __device__ __forceinline__ core::slot_array slots() const {
        return {words_.tiles + helper(), digits / 2};
    }
    __device__ __forceinline__ core::digit_pair counts() const {
        return {shared_.counts[2 * helper()], shared_.counts[2 * helper() + 1]};
    }
    __device__ __forceinline__ void publish(index_t tile) const {
        if (helper() == 0) shared_.refused = 0;
        tile::publish_digits(slots(), tile, shared_.common.turn, counts());
    }
    /// Learns what precedes the tile and tells later ones; the last tile tells the next portion.
    __device__ __forceinline__ void look_back(index_t tile) const {
        const core::digit_pair before =
            tile::digits_before(slots(), tile, shared_.common.turn, counts());
        const int digit = 2 * helper();
        set_origin(tile, digit, before.even);
        set_origin(tile, digit + 1, before.odd);
    }
    __device__ __forceinline__ void set_origin(index_t tile, int digit,
                                               std::uint32_t before) const {
        const index_t run = shared_.common.base[digit] + before;
        shared_.origins[digit] = run - shared_.firsts[digit];
        if (tile == launch_.tiles - 1 && launch_.portion + 1 < words_.portions) {
            words_.base(launch_.place, launch_.portion + 1)[digit] = run + shared_.counts[digit];
        }
    }

    /// Writes rounds [from, to) of the tile; false if its order was found wrong.
    __device__ __forceinline__ bool write(index_t tile, int from, int to) const {
        auto* keys = static_cast<Key*>(shared_.common.keys_to);
        auto* values = static_cast<Value*>(shared_.common.values_to);
        const bool index = has_value<Value> && shared_.common.values_from == nullptr;
        const int items = size(tile);
        const index_t first = begin(tile);
        if (!index) {
            return keys != nullptr
                       ? items_.template write<true, false>(keys, values, from, to, items, first)
                       : items_.template write<false, false>(keys, values, from, to, items, first);
        }
        if constexpr (!std::is_integral_v<Value>) return true;
        return keys != nullptr
                   ? items_.template write<true, true>(keys, values, from, to, items, first)
                   : items_.template write<false, true>(keys, values, from, to, items, first);
    }
    /// The ticket comes while the last rounds are written: taken earlier, it would be long until
    /// the tile's counts are told, and other tiles wait for these.
    __device__ __forceinline__ void write_and_take_ticket(index_t tile) {
        index_t next = 0;
        bool ascends = true;
#pragma unroll 1
        for (int part = 0; part < 2; ++part) {
            if (part == 1 && threadIdx.x == 0) next = ticket();
            ascends &=
                write(tile, part == 0 ? 0 : early_rounds, part == 0 ? early_rounds : P::rows);
        }
        if (threadIdx.x == 0) shared_.tile = next;
        if (!ascends) shared_.refused = 1;
    }

    /// The tile was written in a wrong order: brings it into order by ballots and writes it again,
    /// to the same places. Cursors are clear before and after.
    __device__ __forceinline__ void arrange_again(index_t tile) {
        if (works_) items_.count_again(place_, size(tile));
        arch::sync_block();  // all warps' counts are written
        const int digit = static_cast<int>(threadIdx.x);
        if (digit < digits) {
            std::uint32_t slot = shared_.firsts[digit];
            for (int warp = 0; warp < P::warps; ++warp) {
                const std::uint32_t here = shared_.cursors[warp][digit];
                shared_.cursors[warp][digit] = slot;
                slot += here;
            }
        }
        arch::sync_block();  // the warps' first slots are written
        if (works_) items_.take_slots_again(place_, size(tile));
        arch::sync_block();  // the order is written
        if (works_) {
            write(tile, 0, P::rows);
        } else {
            clear_cursors();
        }
        arch::sync_block();  // the tile is written, the cursors are clear
    }

    static constexpr int early_rounds = radix_tile<P, Key, Value>::early_rounds;

    shared_memory& shared_;
    const radix_words& words_;
    const pass_launch& launch_;
    digit_place<Key> place_;
    radix_tile<P, Key, Value> items_;
    bool works_;
};

/// As many blocks as run at once: those of a pass that is not needed are gone in microseconds.
template <class P, class Key, class Value>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    radix_pass(const radix_buffers<Key, Value> buffers, const radix_shape shape,
               const core::key_order<Key> order, const radix_words words,
               const pass_launch launch) {
    auto& shared = *static_cast<radix_shared<P, Key, Value>*>(arch::dynamic_shared());
    {
        const radix_plan& plan = launch.top ? words.header->top_plan : words.header->plan;
        const int pass = plan.order[launch.place];
        if (pass < 0) return;
        if (threadIdx.x == 0) {
            tile_common& common = shared.common;
            common = common_of(buffers, shape, plan, pass, launch.top);
            common.base = words.base(launch.place, launch.portion);
            common.turn = static_cast<std::uint32_t>(
                (pass * words.portions + launch.portion) % core::digit_turns + 1);
        }
    }
    pass_block<P, Key, Value>(shared, words, launch, order).run();
}

}  // namespace lookback::device
