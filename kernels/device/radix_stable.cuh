// Level L5 (device): a stable sort of even keys in three moves: two passes by digits bring the top
// bits into order, least first, and one block sorts each bucket of keys that agree there.
// Invariant: decided on the device, after the histogram of the buckets; where keys are uneven all
// of this returns at once, and passes by all digits sort.
#pragma once

#include <lookback/kernels/device/radix_buckets.cuh>
#include <lookback/kernels/device/radix_local.cuh>

namespace lookback::device {

inline constexpr int stable_plan_threads = 1024;

/// Shared memory of the plan.
struct stable_plan_shared {
    std::uint32_t totals[stable_plan_threads / arch::warp_lanes];
    std::uint32_t largest;
    std::uint32_t low[digits];   ///< items by the digit of the first pass
    std::uint32_t high[digits];  ///< and by that of the second
};

/// Counts of the buckets to begins, and sums by digit; by one block. Each warp has neighbouring
/// pairs of buckets, row by row.
__device__ __forceinline__ void begin_buckets(const bucket_shape& buckets,
                                              const bucket_words& words,
                                              stable_plan_shared& shared) {
    constexpr int warps = stable_plan_threads / arch::warp_lanes;
    constexpr auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
    const int pairs = core::ceil_div(buckets.buckets(), 2);
    const int rows = core::ceil_div(core::ceil_div(pairs, warps), arch::warp_lanes);
    const int own = arch::warp();
    const int first = own * rows * arch::warp_lanes + arch::lane();
    const auto pair_at = [&](int row) {
        const int i = first + row * arch::warp_lanes;
        return i < pairs ? words.counts[i] : 0;
    };
    std::uint32_t sum = 0;
    std::uint32_t most = 0;
#pragma unroll 4
    for (int row = 0; row < rows; ++row) {
        const std::uint64_t pair = pair_at(row);
        const auto even = static_cast<std::uint32_t>(pair);
        const auto odd = static_cast<std::uint32_t>(pair >> 32);
        sum += even + odd;
        const std::uint32_t more = even < odd ? odd : even;
        most = most < more ? more : most;
        const int bucket = 2 * (first + row * arch::warp_lanes);
        if (bucket >= 2 * pairs) continue;
        arch::count_up(shared.low + bucket % digits, even);
        arch::count_up(shared.low + (bucket + 1) % digits, odd);
        arch::count_up(shared.high + bucket / digits, even + odd);
    }
    sum = warp::reduce_any_order(sum, plus);
    if (arch::lane() == 0) shared.totals[own] = sum;
    arch::raise_to(&shared.largest, most);
    arch::sync_block();  // totals and digits are counted, largest is whole
    std::uint32_t begin = 0;
    for (int warp = 0; warp < own; ++warp) begin += shared.totals[warp];
    auto* begins = reinterpret_cast<uint2*>(words.begins);
#pragma unroll 4
    for (int row = 0; row < rows; ++row) {
        const std::uint64_t pair = pair_at(row);
        const auto even = static_cast<std::uint32_t>(pair);
        const std::uint32_t both = even + static_cast<std::uint32_t>(pair >> 32);
        const std::uint32_t up_to = warp::inclusive_scan(both, plus);
        const int i = first + row * arch::warp_lanes;
        const std::uint32_t from = begin + up_to - both;
        if (i < pairs) {
            words.counts[i] = 0;
            begins[i] = make_uint2(from, from + even);
        }
        begin += arch::shuffle(up_to, arch::warp_lanes - 1);
    }
    arch::sync_block();  // totals are read
}

/// Which way to go on; by one thread.
__device__ __forceinline__ void choose_way(const bucket_shape& buckets, const radix_shape& shape,
                                           bool even_enough, const radix_words& passes) {
    radix_header& header = *passes.header;
    const bool sorted = header.descends == 0;
    const bool falls = !sorted && header.not_falls == 0;
    header.by_buckets = !sorted && !falls && even_enough;
    header.by_passes = !sorted && !falls && !even_enough;
    const int top_passes = buckets.bits > block::digit_bits ? 2 : 1;
    for (int place = 0; place < most_places; ++place) {
        header.top_plan.order[place] = header.by_buckets != 0 && place < top_passes ? place : -1;
        header.plan.order[place] = -1;
    }
    header.top_plan.passes = top_passes;
    header.plan.passes = 0;
    header.plan.finish = finish_action::none;
    if (falls) {
        header.plan.finish = shape.in_place ? finish_action::reverse : finish_action::falling_index;
    } else if (sorted && shape.makes_index) {
        header.plan.finish = finish_action::ascending;
    }
    *passes.ticket(0, 0) = *passes.ticket(1, 0) = 0;
    header.descends = header.not_falls = header.ambiguous = 0;
}

/// Begins of the buckets and of the digits of the passes, and which way to go on, by block 0; the
/// others clear the tile words.
template <class Policy>
__global__ void __launch_bounds__(stable_plan_threads)
    stable_plan(bucket_shape buckets, radix_shape shape, bucket_words words, radix_words passes) {
    __shared__ stable_plan_shared shared;
    const int thread = static_cast<int>(threadIdx.x);
    const index_t number = arch::block_number();
    if (number > 0) {
        const index_t workers = index_t{gridDim.x - 1} * stable_plan_threads;
        for (index_t i = (number - 1) * stable_plan_threads + thread; i < passes.tile_words;
             i += workers) {
            passes.tiles[i] = 0;
        }
        return;
    }
    if (thread == 0) shared.largest = 0;
    if (thread < digits) shared.low[thread] = shared.high[thread] = 0;
    arch::sync_block();  // the counters are clear
    begin_buckets(buckets, words, shared);
    if (thread == 0) words.begins[buckets.buckets()] = static_cast<std::uint32_t>(shape.items);
    for (int place = 0; place < 2; ++place) {
        const std::uint32_t* by_digit = place == 0 ? shared.low : shared.high;
        const std::uint32_t count = thread < digits ? by_digit[thread] : 0;
        const std::uint32_t before = block::exclusive_digit_sum(count, shared.totals);
        if (thread < digits) passes.base(place, 0)[thread] = before;
        arch::sync_block();  // totals are read
    }
    if (thread == 0) {
        choose_way(buckets, shape, shared.largest <= std::uint32_t{Policy::tile_items}, passes);
    }
}

/// Each block one bucket, by the bits below the top ones.
template <class P, class Key, class Value>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    sort_stable_buckets(const radix_buffers<Key, Value> buffers, const radix_shape shape,
                        const core::key_order<Key> order, const std::uint32_t* begins,
                        const radix_header* header, int end_bit) {
    if (header->by_buckets == 0) return;
    auto& shared = *static_cast<local_shared<P, Key, Value>*>(arch::dynamic_shared());
    const std::uint32_t bucket = arch::block_number();
    const std::uint32_t begin = begins[bucket];
    const auto size = static_cast<int>(begins[bucket + 1] - begin);
    if (size == 0) return;
    const int last = header->top_plan.passes - 1;
    local_job<Key, Value> job{};
    job.keys_from = buffers.keys_to(last) + begin;
    job.keys_to = shape.in_place ? buffers.result + begin : nullptr;
    if constexpr (has_value<Value>) {
        job.values_from = buffers.values_to(last, header->top_plan, shape) + begin;
        job.values_to = buffers.values + begin;
    }
    job.size = size;
    job.end_bit = end_bit;
    local_sorter<P, Key, Value>(shared, order, job).run();
}

}  // namespace lookback::device
