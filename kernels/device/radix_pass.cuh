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
    int begin_bit;             ///< of the sort
    bool after_buckets;        ///< the buckets' histogram of these keys ran before
    int shift;                 ///< the place's lowest bit
    std::uint32_t digit_mask;  ///< 255, or less where fewer bits are left
    index_t portion;
    index_t begin;  ///< items of the portion: [begin, begin + items)
    index_t items;
    index_t tiles;
};

template <class P>
__device__ __forceinline__ core::slot_array digit_slots(const radix_words& words, int pair) {
    return {words.tiles + pair, digits / 2};
}

/// Tells and learns what precedes the tile, of which thread d (< 256) passes the count of digit d;
/// gives it where the digit's run begins. The last tile tells the next portion. Even threads look
/// back for two digits; the word of both comes and goes by shuffles, without a barrier.
template <class P>
__device__ __forceinline__ index_t look_back(const radix_words& words, const pass_launch& launch,
                                             const radix_shared<P>& shared, std::uint32_t count) {
    const int digit = static_cast<int>(threadIdx.x);
    if (digit >= digits) return 0;
    const int lane = arch::lane();
    const core::digit_pair counts{count, arch::shuffle(count, lane | 1)};
    core::digit_pair before{0, 0};
    if (digit % 2 == 0) {
        const core::slot_array slots = digit_slots<P>(words, digit / 2);
        tile::publish_digits(slots, shared.tile, shared.common.turn, counts);
        before = tile::digits_before(slots, shared.tile, shared.common.turn, counts);
    }
    arch::sync_warp();  // the pairs are known
    const std::uint32_t odd = arch::shuffle(before.odd, lane & ~1);
    const index_t begin = shared.common.base[digit] + (digit % 2 == 0 ? before.even : odd);
    if (shared.tile == launch.tiles - 1 && launch.portion + 1 < words.portions) {
        words.base(launch.place, launch.portion + 1)[digit] = begin + count;
    }
    return begin;
}

/// Where the pass reads and writes.
template <class Key, class Value>
__device__ __forceinline__ tile_common common_of(const radix_buffers<Key, Value>& buffers,
                                                 const radix_shape& shape, const radix_plan& plan,
                                                 int pass) {
    const bool keeps_keys = shape.in_place || pass + 1 < plan.passes;
    const Value* values_from =
        pass == 0 ? buffers.values : buffers.values_to(pass - 1, plan, shape);
    return {buffers.keys_from(pass),
            keeps_keys ? buffers.keys_to(pass) : nullptr,
            shape.makes_index && pass == 0 ? nullptr : values_from,
            buffers.values_to(pass, plan, shape),
            nullptr,
            0,
            pass == 0,
            shape.identical};
}

/// What another block will soon load.
template <class P, class Key, class Value>
__device__ __forceinline__ void prefetch_later_tile(const pass_launch& launch,
                                                    const radix_shared<P>& shared) {
    const index_t later = shared.tile + tuning::prefetch_tiles;
    if (threadIdx.x != 0 || later + 1 >= launch.tiles) return;
    const index_t begin = launch.begin + later * P::tile_items;
    arch::prefetch_to_l2(static_cast<const Key*>(shared.common.keys_from) + begin,
                         P::tile_items * sizeof(Key));
    if constexpr (has_value<Value>) {
        const auto* values = static_cast<const Value*>(shared.common.values_from);
        if (values != nullptr) arch::prefetch_to_l2(values + begin, P::tile_items * sizeof(Value));
    }
}

/// Writes the staged keys of a tile, and moves its values, which begin at `begin`.
template <class P, class Key, class Value>
__device__ __forceinline__ void write_tile(radix_tile<P, Key, Value>& items,
                                           const digit_place<Key>& place, const tile_common& common,
                                           index_t begin) {
    if constexpr (has_value<Value>) {
        const auto* from = static_cast<const Value*>(common.values_from);
        items.load_values(from == nullptr ? nullptr : from + begin, begin);
    }
    items.write_keys(place, static_cast<Key*>(common.keys_to));
    if constexpr (has_value<Value>) items.move_values(static_cast<Value*>(common.values_to));
}

template <class P, class Key, class Value>
__device__ __forceinline__ void sort_tile(const radix_words& words, const pass_launch& launch,
                                          const core::key_order<Key>& order,
                                          radix_shared<P>& shared) {
    const tile_common& common = shared.common;
    const core::tile_shape tiles{launch.items, P::tile_items};
    const digit_place<Key> place{order, launch.shift, launch.digit_mask};
    prefetch_later_tile<P, Key, Value>(launch, shared);
    radix_tile<P, Key, Value> items(shared, static_cast<int>(tiles.size(shared.tile)));
    items.load_keys(static_cast<const Key*>(common.keys_from) + launch.begin +
                    tiles.begin(shared.tile));
    bool fast = false;
    if constexpr (!has_value<Value>) fast = common.identical;
    const std::uint32_t count = fast ? items.rank_fast(place) : items.rank(place);
    items.lay_out(count, look_back<P>(words, launch, shared, count), fast);
    if (fast) {
        items.stage_fast(place);
        // Before the first pass no bits are sorted: identical keys may come in any order.
        if (!common.first && !items.is_sorted(place, launch.begin_bit)) {
            // Loaded anew: held until here, the keys would cost registers in every tile.
            items.load_keys(static_cast<const Key*>(common.keys_from) + launch.begin +
                            tiles.begin(shared.tile));
            items.stage_again(place);
        }
    } else {
        items.stage_keys(place);
    }
    write_tile(items, place, common, launch.begin + tiles.begin(shared.tile));
}

/// As many blocks as run at once: those of a pass that is not needed are gone in microseconds.
template <class P, class Key, class Value>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    radix_pass(const radix_buffers<Key, Value> buffers, const radix_shape shape,
               const core::key_order<Key> order, const radix_words words,
               const pass_launch launch) {
    auto& shared = *static_cast<radix_shared<P>*>(arch::dynamic_shared());
    {
        const radix_plan& plan = words.header->plan;
        const int pass = plan.order[launch.place];
        if (pass < 0) return;
        if (threadIdx.x == 0) {
            tile_common& common = shared.common;
            common = common_of(buffers, shape, plan, pass);
            common.base = words.base(launch.place, launch.portion);
            common.turn = static_cast<std::uint32_t>(
                (pass * words.portions + launch.portion) % core::digit_turns + 1);
            if (launch.after_buckets && words.header->identical != 0) common.identical = true;
        }
    }
    for (;;) {
        if (threadIdx.x == 0) {
            shared.tile =
                static_cast<index_t>(arch::add(words.ticket(launch.place, launch.portion), 1));
        }
        arch::sync_block();  // the ticket is written; what was staged is read
        if (shared.tile >= launch.tiles) return;
        sort_tile<P, Key, Value>(words, launch, order, shared);
    }
}

/// A whole array that fits one tile: one block does all passes, and no other kernel is needed.
template <class P, class Key, class Value>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    radix_one_tile(const radix_buffers<Key, Value> buffers, const radix_shape shape,
                   const core::key_order<Key> order) {
    auto& shared = *static_cast<radix_shared<P>*>(arch::dynamic_shared());
    radix_plan plan{};
    plan.passes = shape.places;
    const auto n = static_cast<int>(shape.items);
    for (int pass = 0; pass < shape.places; ++pass) {
        const digit_place<Key> place{order, shape.shift(pass), shape.digit_mask(pass)};
        if (threadIdx.x == 0) shared.common = common_of(buffers, shape, plan, pass);
        arch::sync_block();  // what the last pass wrote can be read
        radix_tile<P, Key, Value> items(shared, n);
        items.load_keys(static_cast<const Key*>(shared.common.keys_from));
        const std::uint32_t count = items.rank(place);
        items.lay_out(count, block::exclusive_digit_sum(count, shared.runs.sums), false);
        items.stage_keys(place);
        write_tile(items, place, shared.common, 0);
        arch::sync_block();  // what was staged is read
    }
    if (!shape.in_place || shape.places % 2 == 0) return;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += P::threads) {
        buffers.result[i] = buffers.other[i];
        if constexpr (has_value<Value>) {
            if (!shape.makes_index) buffers.values[i] = buffers.other_values[i];
        }
    }
}

inline constexpr int finish_threads = 512;

/// What is left when no pass, or an odd number of them, ran.
template <class Key, class Value>
__global__ void __launch_bounds__(finish_threads)
    radix_finish(const radix_buffers<Key, Value> buffers, const radix_shape shape,
                 const radix_words words) {
    const finish_action action = words.header->plan.finish;
    if (action == finish_action::none) return;
    const index_t workers = index_t{gridDim.x} * blockDim.x;
    const index_t worker = index_t{arch::block_number()} * blockDim.x + threadIdx.x;
    const index_t n = shape.items;
    if (action == finish_action::reverse) {
        // The middle one, where there is one, changes places with itself.
        for (index_t i = worker; i < n - i; i += workers) {
            const index_t mirror = n - 1 - i;
            const Key key = buffers.in[i];
            buffers.result[i] = buffers.in[mirror];
            buffers.result[mirror] = key;
            if constexpr (has_value<Value>) {
                Value value = buffers.values[i];
                Value mirrored = buffers.values[mirror];
                if constexpr (std::is_integral_v<Value>) {
                    if (shape.makes_index) {
                        value = static_cast<Value>(i);
                        mirrored = static_cast<Value>(mirror);
                    }
                }
                buffers.values[i] = mirrored;
                buffers.values[mirror] = value;
            }
        }
        return;
    }
    for (index_t i = worker; i < n; i += workers) {
        if (action == finish_action::copy) {
            buffers.result[i] = buffers.other[i];
            if constexpr (has_value<Value>) {
                if (!shape.makes_index) buffers.values[i] = buffers.other_values[i];
            }
        } else if constexpr (std::is_integral_v<Value>) {
            buffers.values[i] =
                static_cast<Value>(action == finish_action::ascending ? i : n - 1 - i);
        }
    }
}

}  // namespace lookback::device
