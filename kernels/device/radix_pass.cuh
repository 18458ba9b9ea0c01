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

/// Tells and learns what precedes the tile; the last tile tells the next portion.
template <class P>
__device__ __forceinline__ void look_back(const radix_words& words, const pass_launch& launch,
                                          radix_shared<P>& shared) {
    const int pair = static_cast<int>(threadIdx.x);
    if (pair >= digits / 2) return;
    const core::digit_pair counts{shared.runs.counts[2 * pair], shared.runs.counts[2 * pair + 1]};
    const core::slot_array slots = digit_slots<P>(words, pair);
    const index_t tile = shared.tile;
    const std::uint32_t turn = shared.common.turn;
    tile::publish_digits(slots, tile, turn, counts);
    const core::digit_pair before = tile::digits_before(slots, tile, turn, counts);
    shared.before[2 * pair] = before.even;
    shared.before[2 * pair + 1] = before.odd;
    if (tile == launch.tiles - 1 && launch.portion + 1 < words.portions) {
        const index_t* base = words.base(launch.place, launch.portion);
        index_t* next = words.base(launch.place, launch.portion + 1);
        next[2 * pair] = base[2 * pair] + before.even + counts.even;
        next[2 * pair + 1] = base[2 * pair + 1] + before.odd + counts.odd;
    }
}

/// Where the pass reads and writes.
template <class Key, class Value>
__device__ __forceinline__ tile_common common_of(const radix_buffers<Key, Value>& buffers,
                                                 const radix_shape& shape, const radix_words& words,
                                                 const pass_launch& launch, int pass) {
    const radix_plan& plan = words.header->plan;
    const bool keeps_keys = shape.in_place || pass + 1 < plan.passes;
    const Value* values_from =
        pass == 0 ? buffers.values : buffers.values_to(pass - 1, plan, shape);
    return {buffers.keys_from(pass),
            keeps_keys ? buffers.keys_to(pass) : nullptr,
            shape.makes_index && pass == 0 ? nullptr : values_from,
            buffers.values_to(pass, plan, shape),
            words.base(launch.place, launch.portion),
            static_cast<std::uint32_t>(
                (pass * words.portions + launch.portion) % core::digit_turns + 1),
            pass == 0,
            shape.identical || (launch.after_buckets && words.header->identical != 0)};
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
    if constexpr (!has_value<Value>) fast = common.identical && items.suits_fast_ranks(place);
    if (fast) {
        items.rank_fast(place);
    } else {
        items.rank(place);
    }
    arch::sync_block();  // counts are written
    look_back<P>(words, launch, shared);
    arch::sync_block();  // what precedes the tile is written
    index_t run_begin = 0;
    if (threadIdx.x < digits) run_begin = common.base[threadIdx.x] + shared.before[threadIdx.x];
    items.lay_out(run_begin, fast);
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
    if constexpr (has_value<Value>) {
        const auto* from = static_cast<const Value*>(common.values_from);
        const index_t begin = launch.begin + tiles.begin(shared.tile);
        items.load_values(from == nullptr ? nullptr : from + begin, begin);
    }
    items.write_keys(place, static_cast<Key*>(common.keys_to));
    if constexpr (has_value<Value>) items.move_values(static_cast<Value*>(common.values_to));
}

/// As many blocks as run at once: those of a pass that is not needed are gone in microseconds.
template <class P, class Key, class Value>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    radix_pass(const radix_buffers<Key, Value> buffers, const radix_shape shape,
               const core::key_order<Key> order, const radix_words words,
               const pass_launch launch) {
    auto& shared = *static_cast<radix_shared<P>*>(arch::dynamic_shared());
    {
        const int pass = words.header->plan.order[launch.place];
        if (pass < 0) return;
        if (threadIdx.x == 0) shared.common = common_of(buffers, shape, words, launch, pass);
    }
    for (;;) {
        if (threadIdx.x == 0) {
            shared.tile =
                static_cast<index_t>(arch::add(words.ticket(launch.place, launch.portion), 1));
        }
        arch::sync_block();  // the ticket is written
        if (shared.tile >= launch.tiles) return;
        sort_tile<P, Key, Value>(words, launch, order, shared);
        arch::sync_block();  // shared memory is read
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
