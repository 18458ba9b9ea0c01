// Level L5 (device): buckets too large for a block of their own, which uneven keys make:
// partitioned again by cells cut to fit each of them, until every part fits a block or is one
// value. Invariant: one cooperative launch, whose blocks wait for each other at its barriers only;
// each level but the first few divides the stretch in which a segment's keys can lie by 128 at
// least, so it ends. Source: docs/decisions/0011-cuda-sort.md.
#pragma once

#include <lookback/kernels/device/radix_uneven_steps.cuh>

#include <cooperative_groups.h>

namespace lookback::device {

template <class Cut, class Key>
class uneven_sorter {
public:
    using shared_memory = uneven_shared<Cut, Key>;
    using group = typename Cut::group;
    using partition = typename Cut::uneven_partition;
    static_assert(group::threads == partition::threads);

    __device__ __forceinline__ uneven_sorter(const bucket_words& words,
                                             const uneven_keys<Key>& arguments)
        : words_(words), arguments_(arguments) {}

    __device__ __forceinline__ void run() {
        Key* from = arguments_.from_other ? arguments_.other : arguments_.keys;
        Key* to = arguments_.from_other ? arguments_.keys : arguments_.other;
        const auto grid = cooperative_groups::this_grid();
        for (int level = 0;; ++level) {
            if constexpr (!Cut::groups_apart) sort_new_groups();
            segments_ = words_.segments[level % 2];
            count_ = words_.state->segments[level % 2];
            if (count_ == 0) return;
            cut_segments(from, level);
            if (arch::block_number() == 0) number_tiles(from);
            grid.sync();  // segments are cut, tables are clear
            tiles_ = words_.state->tiles;
            if (arch::block_number() == 0 && threadIdx.x == 0) {
                words_.state->segments[(level + 1) % 2] = 0;
            }
            count_tiles(from);
            grid.sync();  // cells are counted, the next list is empty
            plan_segments((level + 1) % 2, to == arguments_.other);
            grid.sync();  // cells have their room
            move_tiles(from, to);
            grid.sync();  // keys are moved
            Key* before = from;
            from = to;
            to = before;
        }
    }

    /// Strictly falling keys, as they came.
    __device__ __forceinline__ void turn_round() const {
        const index_t workers = index_t{gridDim.x} * group::threads;
        Key* keys = arguments_.keys;
        for (index_t i = index_t{arch::block_number()} * group::threads + threadIdx.x;
             i < arguments_.items / 2; i += workers) {
            const index_t mirror = arguments_.items - 1 - i;
            const Key key = keys[i];
            keys[i] = keys[mirror];
            keys[mirror] = key;
        }
    }

private:
    using steps = uneven_steps<Cut, Key>;
    static constexpr int sampled_levels = 3;
    using span = span_tiles<partition, Key>;

    /// Not a member: the compiler must see that it is shared memory.
    __device__ __forceinline__ static shared_memory& shared() {
        return *static_cast<shared_memory*>(arch::dynamic_shared());
    }
    __device__ __forceinline__ Key restored(Key ordered) const {
        return arguments_.order.restored(ordered);
    }
    __device__ __forceinline__ static span tiles_of(const Key* from, const key_segment& segment) {
        return {from, segment.begin, index_t{segment.begin} + segment.size};
    }
    __device__ __forceinline__ static cell_map<Key> cells_of(const key_segment& segment) {
        return {static_cast<Key>(segment.first), static_cast<int>(segment.shift), segment.last};
    }
    /// Whether a cell is one value in all of the segment, so that its counts say all.
    __device__ __forceinline__ static bool is_counted_out(const key_segment& segment) {
        return segment.shift == 0 && segment.strays == 0;
    }

    __device__ __forceinline__ void sort_new_groups() {
        const std::uint32_t count = words_.state->groups;
        for (std::uint32_t i = sorted_groups_ + arch::block_number(); i < count; i += gridDim.x) {
            const key_group own = words_.groups[i];
            const Key* from = own.in_other() ? arguments_.other : arguments_.keys;
            steps::sort(from + own.begin, arguments_.keys + own.begin, static_cast<int>(own.size()),
                        arguments_.order);
        }
        sorted_groups_ = count;
    }

    /// Cells of each segment: where a sample of its keys lies, or, later, where they can lie. A
    /// warp a segment.
    __device__ __forceinline__ void cut_segments(const Key* from, int level) const {
        const std::uint32_t warps = gridDim.x * group::warps;
        const auto own = static_cast<std::uint32_t>(arch::warp());
        for (std::uint32_t i = arch::block_number() * group::warps + own; i < count_; i += warps) {
            key_segment& segment = segments_[i];
            auto low = static_cast<Key>(segment.lowest);
            auto high = static_cast<Key>(segment.highest);
            const bool known = low == high;
            if (level < sampled_levels && !known) sample_segment(from, segment, low, high);
            cell_map<Key> cells = make_cells(low, high, block::digit_bits, 0);
            // Where all that can lie in the segment fits these cells, nothing lies outside.
            const Key begin = static_cast<Key>(segment.lowest) >> cells.shift;
            const Key end = static_cast<Key>(segment.highest) >> cells.shift;
            const bool fits = static_cast<Key>(end - begin) <= cells.last;
            if (fits) cells.first = begin;
            std::uint32_t* table = words_.tables + std::size_t{i} * digits;
            for (int cell = arch::lane(); cell < digits; cell += arch::warp_lanes) {
                const bool all =
                    known && cells.template number<true>(low) == static_cast<std::uint32_t>(cell);
                table[cell] = all ? segment.size : 0;
            }
            if (arch::lane() == 0) {
                segment.first = cells.first;
                segment.shift = static_cast<std::uint32_t>(cells.shift);
                segment.last = cells.last;
                segment.outside = fits ? 0 : 1;
                segment.strays = 0;
            }
        }
    }

    /// Which tiles are whose; by one block.
    __device__ __forceinline__ void number_tiles(const Key* from) {
        const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
        std::uint32_t base = 0;
        const int warp = arch::warp();
        for (std::uint32_t first = 0; first < count_; first += group::threads) {
            const std::uint32_t i = first + threadIdx.x;
            std::uint32_t tiles = 0;
            if (i < count_) {
                tiles = static_cast<std::uint32_t>(tiles_of(from, segments_[i]).count());
            }
            const std::uint32_t up_to = warp::inclusive_scan(tiles, plus);
            if (arch::lane() == arch::warp_lanes - 1) shared().sums[warp] = up_to;
            arch::sync_block();  // warps' sums are written
            const std::uint32_t sum = arch::lane() < group::warps ? shared().sums[arch::lane()] : 0;
            const std::uint32_t before = arch::lane() < warp ? sum : 0;
            const std::uint32_t own = base + warp::reduce_any_order(before, plus) + up_to - tiles;
            if (i < count_) segments_[i].first_tile = own;
            base += warp::reduce_any_order(sum, plus);
            arch::sync_block();  // warps' sums are read
        }
        if (threadIdx.x == 0) words_.state->tiles = base;
    }

    /// Body of each tile of the block's share, neighbours, and of the end of each segment in it;
    /// all threads.
    template <class Begin, class Body, class End>
    __device__ __forceinline__ void each_tile(Begin begin, Body body, End end) {
        const std::uint32_t share = core::ceil_div(tiles_, gridDim.x);
        const std::uint32_t first = share * arch::block_number();
        const std::uint32_t last = first + share < tiles_ ? first + share : tiles_;
        if (first >= last) return;
        std::uint32_t segment = 0;  // the last one that begins at or before the tile
        for (std::uint32_t left = count_; left > 1;) {
            const std::uint32_t half = left / 2;
            if (segments_[segment + half].first_tile <= first) segment += half;
            left -= half;
        }
        for (std::uint32_t tile = first; tile < last; ++segment) {
            const key_segment own = segments_[segment];
            const std::uint32_t next =
                segment + 1 < count_ ? segments_[segment + 1].first_tile : tiles_;
            const std::uint32_t stop = next < last ? next : last;
            if (!begin(segment, own)) {
                tile = stop;
                continue;
            }
            for (; tile < stop; ++tile) body(own, tile - own.first_tile);
            end(segment, own);
        }
    }

    __device__ __forceinline__ void count_tiles(const Key* from) {
        const auto thread = threadIdx.x;
        bool outside = false;
        each_tile(
            [&](std::uint32_t, const key_segment& segment) {
                if (segment.lowest == segment.highest) return false;
                if (thread < digits) shared().tile.counts[thread] = 0;
                outside = false;
                arch::sync_block();  // counts are clear
                return true;
            },
            [&](const key_segment& segment, std::uint32_t tile) {
                const bool beyond = steps::count(tiles_of(from, segment), tile, cells_of(segment),
                                                 segment.outside != 0);
                outside = outside || beyond;
            },
            [&](std::uint32_t number, const key_segment&) {
                if (arch::any_in_block(outside) && thread == 0) segments_[number].strays = 1;
                if (thread < digits && shared().tile.counts[thread] != 0) {
                    arch::fetch_add(words_.tables + std::size_t{number} * digits + thread,
                                    shared().tile.counts[thread]);
                }
                arch::sync_block();  // counts are read
            });
    }

    /// Room for the cells of each segment, and what becomes of them; a warp a segment.
    __device__ __forceinline__ void plan_segments(int next, bool to_other) {
        const std::uint32_t warps = gridDim.x * group::warps;
        const auto own = static_cast<std::uint32_t>(arch::warp());
        std::uint32_t* sizes = shared().sizes[own];
        for (std::uint32_t i = arch::block_number() * group::warps + own; i < count_; i += warps) {
            const key_segment segment = segments_[i];
            std::uint32_t* table = words_.tables + std::size_t{i} * digits;
            std::uint32_t begin = segment.begin;
            for (int cell = arch::lane(); cell < digits; cell += arch::warp_lanes) {
                const std::uint32_t size = table[cell];
                const std::uint32_t up_to = warp::inclusive_scan(
                    size, [](std::uint32_t a, std::uint32_t b) { return a + b; });
                table[cell] = begin + up_to - size;
                sizes[cell] = size;
                begin += arch::shuffle(up_to, arch::warp_lanes - 1);
            }
            arch::sync_warp();  // sizes are written
            if (arch::lane() == 0 && !is_counted_out(segment)) {
                divide(segment, sizes, next, to_other);
            }
            arch::sync_warp();  // sizes are read
        }
    }
    /// Neighbouring cells that fit a block together make a group, those too large for one a
    /// segment.
    __device__ __forceinline__ void divide(const key_segment& segment, const std::uint32_t* sizes,
                                           int next, bool to_other) const {
        const cell_map<Key> cells = cells_of(segment);
        std::uint32_t begin = segment.begin;  // of the group
        std::uint32_t end = begin;
        for (std::uint32_t cell = 0; cell < digits; ++cell) {
            const std::uint32_t size = sizes[cell];
            if (end + size - begin > group::tile_items) {
                if (begin != end) words_.add_group(begin, end - begin, to_other);
                begin = end;
            }
            end += size;
            if (size <= group::tile_items) continue;
            key_segment part{};
            part.lowest = cell == 0 ? segment.lowest : cells.begin(cell);
            part.highest =
                cell == cells.last ? segment.highest : static_cast<Key>(cells.begin(cell + 1) - 1);
            part.begin = begin;
            part.size = size;
            words_.add_segment(next, part);
            begin = end;
        }
        if (begin != end) words_.add_group(begin, end - begin, to_other);
    }

    __device__ __forceinline__ void move_tiles(const Key* from, Key* to) {
        std::uint32_t* table = nullptr;
        each_tile(
            [&](std::uint32_t number, const key_segment& segment) {
                table = words_.tables + std::size_t{number} * digits;
                if (is_counted_out(segment)) {
                    if (threadIdx.x < digits) shared().begins[threadIdx.x] = table[threadIdx.x];
                    arch::sync_block();  // begins are written
                }
                return true;
            },
            [&](const key_segment& segment, std::uint32_t tile) {
                if (is_counted_out(segment)) {
                    write_values(segment, tiles_of(from, segment), tile);
                    return;
                }
                steps::move(tiles_of(from, segment), tile, cells_of(segment), segment.strays != 0,
                            table, to);
            },
            [&](std::uint32_t, const key_segment&) {
                arch::sync_block();  // begins are read
            });
    }
    /// The part of the result that lies where the tile does.
    __device__ __forceinline__ void write_values(const key_segment& segment, const span& tiles,
                                                 std::uint32_t tile) const {
        const index_t first = tiles.first + index_t{tile} * partition::tile_items;
        const index_t begin = first < tiles.begin ? tiles.begin : first;
        const index_t last = first + partition::tile_items;
        const index_t end = last < tiles.end ? last : tiles.end;
        for (index_t at = begin + threadIdx.x; at < end; at += partition::threads) {
            std::uint32_t cell = 0;  // the last one that begins at or before the place
#pragma unroll
            for (std::uint32_t step = digits / 2; step > 0; step /= 2) {
                if (index_t{shared().begins[cell + step]} <= at) cell += step;
            }
            arguments_.keys[at] = restored(static_cast<Key>(segment.first + cell));
        }
    }

    bucket_words words_;
    uneven_keys<Key> arguments_;
    key_segment* segments_ = nullptr;  ///< of the level
    std::uint32_t count_ = 0;
    std::uint32_t tiles_ = 0;
    std::uint32_t sorted_groups_ = 0;
};

/// What sort_buckets() left: a cooperative launch, over in microseconds where that is nothing.
template <class Cut, class Key>
__global__ void __launch_bounds__(Cut::group::threads, Cut::group::blocks_per_sm)
    sort_uneven(uneven_keys<Key> arguments, bucket_words words, const radix_header* header) {
    const bucket_state& state = *words.state;
    const std::uint32_t groups = Cut::groups_apart ? 0 : state.groups;
    const bool uneven = header->by_buckets != 0 && (groups | state.segments[0]) != 0;
    const bool turns_round = state.turns_round != 0;
    if (!uneven && !turns_round) return;
    uneven_sorter<Cut, Key> sorter(words, arguments);
    if (turns_round) {
        sorter.turn_round();
    } else {
        sorter.run();
    }
}

}  // namespace lookback::device
