// Level L5 (device): what a sort of keys alone decides once its keys are counted: where each bucket
// begins, which buckets are too large for a block, and which way to go on.
// Invariant: made by the last block of the histogram, which leaves the counts zero; only read
// after.
#pragma once

#include <lookback/kernels/device/radix_cells.cuh>
#include <lookback/kernels/device/radix_watch.cuh>

namespace lookback::device {

/// Buckets: 2^bits cells, of which every 2^second_bits make a bucket of the first partition.
struct bucket_shape {
    int bits;
    int first_bits;

    LOOKBACK_HD int second_bits() const { return bits - first_bits; }
    LOOKBACK_HD int buckets() const { return 1 << bits; }
};

/// What the kernels that come after the histogram can do.
struct bucket_limits {
    bucket_shape shape;
    std::uint32_t tile_items;    ///< of a partition
    std::uint32_t lead;          ///< keys by which the second partition's input is off alignment
    std::uint32_t lane_items;    ///< keys of 16 bytes
    std::uint32_t bucket_items;  ///< keys that one block of sort_buckets() sorts
    std::uint32_t group_items;   ///< keys that one block sorts of what is left
};

/// Keys [begin, begin + size) of one of the two buffers, for one block.
struct key_group {
    std::uint32_t begin;
    std::uint32_t size_and_buffer;

    LOOKBACK_HD std::uint32_t size() const { return size_and_buffer >> 1; }
    LOOKBACK_HD bool in_other() const { return (size_and_buffer & 1) != 0; }
};

/// Keys [begin, begin + size), too many for one block.
struct key_segment {
    std::uint64_t lowest;   ///< no key is less,
    std::uint64_t highest;  ///< none is more
    std::uint64_t first;    ///< cells of the segment, see cell_map
    std::uint32_t begin;
    std::uint32_t size;
    std::uint32_t shift;
    std::uint32_t last;
    std::uint32_t outside;     ///< not 0: keys may lie outside of the cells,
    std::uint32_t strays;      ///< and do
    std::uint32_t first_tile;  ///< tiles of the segments before
};

/// Decided on the device. All zero when made; `arrived` and `outside` are zero between sorts.
struct bucket_state {
    std::uint64_t first;  ///< all buckets as cells, see cell_map
    std::uint32_t shift;
    std::uint32_t last;
    std::uint64_t outside;  ///< not 0: keys lie outside of the cells
    std::uint64_t clamps;   ///< the same, for this sort's partitions
    std::uint64_t arrived;
    std::uint64_t turns_round;  ///< keys fall strictly
    std::uint32_t groups;
    std::uint32_t segments[2];  ///< of this level, of the next one
    std::uint32_t tiles;

    template <class Key>
    __device__ __forceinline__ cell_map<Key> cells() const {
        return {static_cast<Key>(first), static_cast<int>(shift), last};
    }
};

/// Parts of a workspace for buckets.
struct bucket_words {
    bucket_state* state;
    std::uint64_t* counts;         ///< two buckets a word; zero between sorts
    std::uint32_t* begins;         ///< [buckets + 1]
    std::uint32_t* cursors;        ///< where the next keys of each bucket go
    std::uint32_t* first_cursors;  ///< [256] the same for the first partition
    std::uint32_t* first_tiles;    ///< [257] tiles of the second partition before each first bucket
    key_group* groups;
    key_segment* segments[2];  ///< of this level, of the next one
    std::uint32_t* tables;     ///< 256 counts a segment

    __device__ __forceinline__ void add_group(std::uint32_t begin, std::uint32_t size,
                                              bool in_other) const {
        groups[arch::fetch_add(&state->groups, 1)] = {
            begin, size << 1 | static_cast<std::uint32_t>(in_other)};
    }
    __device__ __forceinline__ void add_segment(int level, const key_segment& segment) const {
        segments[level][arch::fetch_add(&state->segments[level], 1)] = segment;
    }
};

struct plan_shared {
    std::uint32_t totals[arch::warp_lanes];
    bool last;
};

/// Whether all other blocks of the grid have come here before; what they wrote is then seen.
__device__ __forceinline__ bool is_last_block(std::uint64_t* arrived, plan_shared& shared) {
    arch::sync_block();  // what the block wrote comes before the fence
    if (threadIdx.x == 0) {
        arch::fence();  // ... and that before the arrival
        shared.last = arch::add(arrived, 1) == gridDim.x - 1;
        arch::fence();  // what the others wrote is seen after their arrival
    }
    arch::sync_block();  // it is known who is last
    return shared.last;
}

/// Sums, begins and cursors of all buckets, by 32 warps: each takes neighbouring rows of 64
/// buckets.
template <class Key>
class bucket_planner {
public:
    __device__ __forceinline__ bucket_planner(const cell_map<Key>& cells,
                                              const bucket_limits& limits,
                                              const bucket_words& words)
        : cells_(cells), limits_(limits), words_(words) {
        pairs_ = core::ceil_div(limits.shape.buckets(), 2);
        rows_ = core::ceil_div(pairs_, arch::warp_lanes * arch::warp_lanes);
        first_ = arch::warp() * rows_ * arch::warp_lanes + arch::lane();
    }

    /// Keys in the warp's buckets.
    __device__ __forceinline__ std::uint32_t sum() const {
        std::uint32_t keys = 0;
        for (int row = 0; row < rows_; row += batch) {
            each_pair(row, [&](int, std::uint64_t pair) {
                keys += static_cast<std::uint32_t>(pair) + static_cast<std::uint32_t>(pair >> 32);
            });
        }
        return warp::reduce_any_order(keys, plus_type{});
    }
    /// `begin`: keys in the buckets of the warps before.
    __device__ __forceinline__ void write(std::uint32_t begin, bool sorts) const {
        for (int row = 0; row < rows_; row += batch) {
            each_pair(row, [&](int at, std::uint64_t pair) {
                const auto even = static_cast<std::uint32_t>(pair);
                const std::uint32_t both = even + static_cast<std::uint32_t>(pair >> 32);
                const std::uint32_t up_to = warp::inclusive_scan(both, plus_type{});
                const std::uint32_t own = begin + up_to - both;
                begin += arch::shuffle(up_to, arch::warp_lanes - 1);
                if (at >= pairs_) return;
                words_.counts[at] = 0;
                words_.begins[2 * at] = words_.cursors[2 * at] = own;
                words_.begins[2 * at + 1] = words_.cursors[2 * at + 1] = own + even;
                if (sorts) {
                    set_aside(2 * at, own, even);
                    set_aside(2 * at + 1, own + even, both - even);
                }
            });
        }
    }

private:
    static constexpr int batch = 4;
    struct plus_type {
        __device__ __forceinline__ std::uint32_t operator()(std::uint32_t a,
                                                            std::uint32_t b) const {
            return a + b;
        }
    };

    /// Some rows at once, so that their loads are in flight together; all lanes.
    template <class Body>
    __device__ __forceinline__ void each_pair(int row, Body body) const {
        std::uint64_t pairs[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const int at = first_ + (row + i) * arch::warp_lanes;
            pairs[i] = row + i < rows_ && at < pairs_ ? arch::load_relaxed(words_.counts + at) : 0;
        }
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            if (row + i < rows_) body(first_ + (row + i) * arch::warp_lanes, pairs[i]);
        }
    }
    /// A bucket that is too large for sort_buckets().
    __device__ __forceinline__ void set_aside(int bucket, std::uint32_t begin,
                                              std::uint32_t size) const {
        if (size <= limits_.bucket_items) return;
        if (size <= limits_.group_items) {
            words_.add_group(begin, size, limits_.shape.second_bits() == 0);
            return;
        }
        const auto cell = static_cast<std::uint32_t>(bucket);
        key_segment segment{};
        segment.lowest = cell == 0 ? 0 : cells_.begin(cell);
        segment.highest = cell == cells_.last ? static_cast<Key>(~Key{0})
                                              : static_cast<Key>(cells_.begin(cell + 1) - 1);
        segment.begin = begin;
        segment.size = size;
        words_.add_segment(0, segment);
    }

    cell_map<Key> cells_;
    bucket_limits limits_;
    bucket_words words_;
    int pairs_;
    int rows_;
    int first_;
};

/// Tiles and cursors of the first buckets; all threads of the block.
__device__ __forceinline__ void plan_first_buckets(const bucket_limits& limits,
                                                   const bucket_words& words, plan_shared& shared) {
    const bucket_shape shape = limits.shape;
    const int firsts = 1 << shape.first_bits;
    const int thread = static_cast<int>(threadIdx.x);
    std::uint32_t tiles = 0;
    if (thread < firsts) {
        const std::uint32_t from = words.begins[thread << shape.second_bits()];
        const std::uint32_t to = words.begins[(thread + 1) << shape.second_bits()];
        words.first_cursors[thread] = from;
        const std::uint32_t skip = (limits.lead + from) % limits.lane_items;
        tiles = from == to ? 0 : core::ceil_div(skip + to - from, limits.tile_items);
    }
    const std::uint32_t before = block::exclusive_digit_sum(tiles, shared.totals);
    if (thread < firsts) words.first_tiles[thread] = before;
    if (thread == firsts - 1) words.first_tiles[firsts] = before + tiles;
}

/// Begins of the buckets, and which way to go on. By the 1024 threads of one block.
template <class Key>
__device__ __forceinline__ void plan_buckets(index_t items, const cell_map<Key>& cells,
                                             const bucket_limits& limits, const bucket_words& words,
                                             radix_header& header, plan_shared& shared) {
    const bool sorted = arch::load_relaxed(&header.descends) == 0;
    const bool falls = !sorted && arch::load_relaxed(&header.not_falls) == 0;
    const bool ambiguous = arch::load_relaxed(&header.ambiguous) != 0;
    const bool sorts = !sorted && !falls && !ambiguous;
    if (threadIdx.x == 0) words.state->groups = words.state->segments[0] = 0;
    const bucket_planner<Key> planner(cells, limits, words);
    const std::uint32_t own = planner.sum();
    const int warp = arch::warp();
    if (arch::lane() == 0) shared.totals[warp] = own;
    arch::sync_block();  // all warps' sums are written, lists are empty
    std::uint32_t begin = arch::lane() < warp ? shared.totals[arch::lane()] : 0;
    begin = warp::reduce_any_order(begin, [](std::uint32_t a, std::uint32_t b) { return a + b; });
    planner.write(begin, sorts);
    if (threadIdx.x == 0) words.begins[limits.shape.buckets()] = static_cast<std::uint32_t>(items);
    arch::sync_block();  // begins are written
    plan_first_buckets(limits, words, shared);
    if (threadIdx.x != 0) return;
    bucket_state& state = *words.state;
    state.first = cells.first;
    state.shift = static_cast<std::uint32_t>(cells.shift);
    state.last = cells.last;
    state.clamps = arch::load_relaxed(&state.outside);
    state.turns_round = falls;
    state.outside = state.arrived = 0;
    header.by_buckets = sorts;
    header.by_passes = !sorted && !falls && ambiguous;
    header.identical = !ambiguous;
    for (int place = 0; place < most_places; ++place) header.plan.order[place] = -1;
    header.plan.passes = 0;
    header.plan.finish = finish_action::none;
    header.descends = header.not_falls = header.ambiguous = 0;
}

}  // namespace lookback::device
