// Level L3 (block): the rank of each item among the items of its digit, warp by warp and stable.
// Invariant: a warp ranks its rows in order, and lanes within a row in order, whatever the hardware
// does with colliding atomics. Needs 2 KiB of shared memory a warp.
// Source: Ashkiani et al., "GPU multisplit" (2016), for ranks by ballots; CUB's match by atomicOr.
#pragma once

#include <lookback/kernels/arch/atomics.cuh>
#include <lookback/kernels/core/lookback.hpp>
#include <lookback/kernels/warp/scan.cuh>

namespace lookback::block {

inline constexpr int digit_bits = 8;
inline constexpr int digits = 1 << digit_bits;

/// Numbers below 2^16, two in a register: the ranks and slots of a thread's items.
template <int Count>
class packed_numbers {
public:
    __device__ __forceinline__ std::uint32_t get(int i) const {
        return i % 2 == 0 ? pairs_[i / 2] & 0xffffU : pairs_[i / 2] >> 16;
    }
    __device__ __forceinline__ void set(int i, std::uint32_t number) {
        std::uint32_t& pair = pairs_[i / 2];
        pair = i % 2 == 0 ? (pair & 0xffff0000U) | number : (pair & 0xffffU) | number << 16;
    }

private:
    std::uint32_t pairs_[(Count + 1) / 2] = {};
};

/// What a warp knows of one digit.
struct alignas(8) rank_cell {
    std::uint32_t lanes;  ///< of the row in hand; none between rows
    std::uint32_t count;  ///< items of the rows before; later, the warp's first slot for the digit
};

/// The lanes whose digit is this lane's, found by eight ballots: the same cost for any digits.
__device__ __forceinline__ std::uint32_t peers_by_ballots(std::uint32_t digit) {
    std::uint32_t peers = arch::all_lanes;
#pragma unroll
    for (int bit = 0; bit < digit_bits; ++bit) {
        const bool set = (digit >> bit & 1) != 0;
        const std::uint32_t vote = arch::ballot(set);
        peers &= set ? vote : ~vote;
    }
    return peers;
}

inline constexpr std::uint32_t no_digit = digits;

/// A digit that many lanes have, or no_digit; all lanes call it, the answer is the same in all.
__device__ __forceinline__ std::uint32_t hot_digit(std::uint32_t digit) {
    constexpr int enough = 6;
    std::uint32_t hot = no_digit;
#pragma unroll
    for (int probe = 0; probe < 3; ++probe) {
        const std::uint32_t like = arch::shuffle(digit, probe * 11);
        if (arch::bit_count(arch::ballot(digit == like)) >= enough) hot = like;
    }
    return hot;
}

/// Ranks of one warp's rows. On an H200 a row costs 16.5 cycles of its SM by colliding atomics and
/// 30 by ballots; but atomics cost a cycle for each lane that meets another in a digit, so the
/// lanes of one hot digit are found by a ballot, and a warp turns to eight ballots while its rows
/// are crowded nevertheless.
class warp_ranks {
public:
    /// All lanes; the cells are the warp's own, one a digit. `hot` is a digit that many lanes have,
    /// or no_digit.
    __device__ __forceinline__ warp_ranks(rank_cell* cells, std::uint32_t hot)
        : cells_(cells), hot_(hot) {
#pragma unroll
        for (int i = 0; i < digits; i += arch::warp_lanes) cells_[i + arch::lane()] = {0, 0};
        arch::sync_warp();  // cells are clear
    }

    /// The number of the warp's earlier items with this digit: of rows before, and of lanes below.
    __device__ __forceinline__ std::uint32_t rank(std::uint32_t digit) {
        rank_cell seen{};
        const bool is_hot = digit == hot_;
        if (crowded_) {
            seen = {peers_by_ballots(digit), cells_[digit].count};
        } else {
            const std::uint32_t peers = hot_ != no_digit ? arch::ballot(is_hot) : 0;
            if (!is_hot) arch::set_bits(&cells_[digit].lanes, 1U << arch::lane());
            arch::sync_warp();  // the row's lanes are all in
            seen = cells_[digit];
            if (is_hot) seen.lanes = peers;
        }
        arch::sync_warp();  // cells are read
        if (core::highest_bit(seen.lanes) == arch::lane()) {
            const auto more = static_cast<std::uint32_t>(arch::bit_count(seen.lanes));
            cells_[digit] = {0, seen.count + more};
        }
        arch::sync_warp();  // ... and ready for the next row
        lanes_ = is_hot ? 0 : seen.lanes;
        return seen.count +
               static_cast<std::uint32_t>(arch::bit_count(seen.lanes & arch::lanes_below()));
    }

    /// Decides how the next rows are ranked, by the last one. Costs a ballot: call it now and then.
    __device__ __forceinline__ void look_at_crowding() {
        crowded_ = arch::ballot(arch::bit_count(lanes_) >= crowd) != 0;
    }

private:
    static constexpr int crowd = 10;

    rank_cell* cells_;
    std::uint32_t hot_;
    std::uint32_t lanes_ = 0;
    bool crowded_ = false;
};

/// Whether many lanes have the digit of lane 0; all lanes call it, the answer is the same in all.
__device__ __forceinline__ bool is_crowded(std::uint32_t digit) {
    const std::uint32_t like_first = arch::ballot(digit == arch::shuffle(digit, 0));
    return arch::bit_count(like_first) >= 8;
}

/// Adds the warp's digits to the block's counts; the caller says whether the row may be crowded.
__device__ __forceinline__ void count_row(std::uint32_t* counts, std::uint32_t digit,
                                          bool crowded) {
    if (!crowded) {
        arch::count_up(counts + digit);
        return;
    }
    const std::uint32_t peers = peers_by_ballots(digit);
    if (core::highest_bit(peers) == arch::lane()) {
        arch::count_up(counts + digit, static_cast<std::uint32_t>(arch::bit_count(peers)));
    }
}

/// Takes a slot of each lane's digit from the block's cursors: items of a digit in no given order.
__device__ __forceinline__ std::uint32_t take_slots(std::uint32_t* cursors, std::uint32_t digit,
                                                    bool crowded) {
    if (!crowded) return arch::fetch_add(cursors + digit, 1);
    const std::uint32_t peers = peers_by_ballots(digit);
    const int leader = core::highest_bit(peers);
    std::uint32_t first = 0;
    if (leader == arch::lane()) {
        first =
            arch::fetch_add(cursors + digit, static_cast<std::uint32_t>(arch::bit_count(peers)));
    }
    return arch::shuffle(first, leader) +
           static_cast<std::uint32_t>(arch::bit_count(peers & arch::lanes_below()));
}

/// Exclusive sum over the 256 values of the block's first 256 threads; `totals` is shared memory
/// for eight words. All threads of the block call it; the others' values do not count. A barrier
/// must follow before `totals` is used again.
__device__ __forceinline__ std::uint32_t exclusive_digit_sum(std::uint32_t value,
                                                             std::uint32_t* totals) {
    constexpr int warps = digits / arch::warp_lanes;
    const int warp = arch::warp();
    const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
    const std::uint32_t up_to = warp::inclusive_scan(value, plus);
    if (warp < warps && arch::lane() == arch::warp_lanes - 1) totals[warp] = up_to;
    arch::sync_block();  // totals are written
    std::uint32_t before = up_to - value;
    for (int earlier = 0; earlier < warps; ++earlier) {
        if (earlier < warp) before += totals[earlier];
    }
    return before;
}

}  // namespace lookback::block
