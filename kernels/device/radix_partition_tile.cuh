// Level L5 (device): a tile of keys, moved to the cells of their next bits in any order: it
// reserves the room in each cell by one atomic. One read and one write a key. Invariant: for keys
// whose equal values are identical; no tile waits for another. Source: Stehle and Jacobsen, "A
// memory bandwidth-efficient hybrid radix sort on GPUs" (2017).
#pragma once

#include <lookback/kernels/arch/prefetch.cuh>
#include <lookback/kernels/device/radix_bucket_plan.cuh>
#include <lookback/kernels/tile/lane_vector.cuh>

namespace lookback::device {

template <class P>
struct partition_shared {
    alignas(16) unsigned char stage[P::stage_items * P::staged_bytes];
    std::uint32_t counts[digits];  ///< of each cell; later where its next key is staged
    std::uint32_t
        offsets[digits];  ///< place in the output of slot 0, if all slots were this cell's
    /// A bit a slot: none of the tile's keys, but what was there before. So runs can begin at slots
    /// congruent to their place in memory.
    alignas(16) std::uint32_t gaps[P::warps][P::rounds];  ///< [warp][round] that reads the slots
    std::uint32_t sums[digits / arch::warp_lanes];
    std::uint32_t hot_count;
    std::uint32_t hot[2];  ///< cells that have much of the tile
    std::uint32_t end;     ///< slots in use
    std::uint32_t tile;
    int shift;

    /// Reads the cells' shift so that the assembler does not know it: else it holds the cells of
    /// all keys in registers from one loop to the next, and spills.
    __device__ __forceinline__ int reload_shift() { return *static_cast<volatile int*>(&shift); }
};

/// Tiles that hold [begin, end) of a buffer, cut where 16-byte vectors are aligned.
template <class P, class Key>
struct span_tiles {
    static constexpr int lane_items = tile::lane_vector<Key>::items;

    const Key* buffer;
    index_t begin;
    index_t end;
    index_t first;  ///< where the first tile begins: at most `begin`, maybe < 0

    LOOKBACK_HD span_tiles(const Key* in, index_t from, index_t to)
        : buffer(in), begin(from), end(to), first(from - lead(in, from)) {}

    LOOKBACK_HD static index_t lead(const Key* buffer, index_t at) {
        return static_cast<index_t>(reinterpret_cast<std::uintptr_t>(buffer) / sizeof(Key) +
                                    static_cast<std::uintptr_t>(at)) %
               lane_items;
    }
    LOOKBACK_HD index_t count() const {
        return begin == end ? 0 : core::ceil_div<index_t>(end - first, P::tile_items);
    }
};

/// A tile of keys in registers, moved to their cells.
template <class P, class Key>
class partition_tile {
public:
    using vector = tile::lane_vector<Key>;

    __device__ __forceinline__ partition_tile(partition_shared<P>& shared,
                                              const span_tiles<P, Key>& tiles, index_t tile)
        : shared_(shared) {
        const index_t at = tiles.first + tile * P::tile_items;
        from_ = tiles.buffer + at;
        begin_ = tiles.begin > at ? static_cast<std::uint32_t>(tiles.begin - at) : 0;
        const index_t left = tiles.end - at;
        const auto end = static_cast<std::uint32_t>(left < P::tile_items ? left : P::tile_items);
        size_ = end - begin_;
    }

    __device__ __forceinline__ bool is_whole() const { return size_ == P::tile_items; }

    __device__ __forceinline__ void load() {
        if (is_whole()) {
            vector rows[P::vectors];
#pragma unroll
            for (int v = 0; v < P::vectors; ++v) rows[v].load(from_ + index(v * vector::items));
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                keys_[row] = rows[row / vector::items].get(row % vector::items);
            }
        } else {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                keys_[row] = Key{};
                if (is_item<false>(row)) keys_[row] = from_[index(row)];
            }
        }
    }
    /// The tile that is so many tiles later, if `end` is not before it ends.
    __device__ __forceinline__ void prefetch_later(const Key* end, int tiles) const {
        const Key* later = from_ + index_t{tiles} * P::tile_items;
        if (threadIdx.x == 0 && end - later >= P::tile_items) {
            arch::prefetch_to_l2(later, P::tile_items * sizeof(Key));
        }
    }
    /// Keys as they will be compared.
    __device__ __forceinline__ void to_ordered(const core::key_order<Key>& order) {
        if (order.floating) {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) keys_[row] = order.of_unambiguous(keys_[row]);
        } else {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) keys_[row] ^= order.mask;
        }
    }
    /// `room` has the cells' cursors in global memory.
    __device__ __forceinline__ void move(const cell_map<Key>& cells, bool clamps,
                                         std::uint32_t* room, Key* to) {
        if (!is_whole()) {
            move_as<false, true>(cells, room, to);
        } else if (clamps) {
            move_as<true, true>(cells, room, to);
        } else {
            move_as<true, false>(cells, room, to);
        }
    }
    /// Adds up the tile's keys in the block's counts.
    __device__ __forceinline__ void count(const cell_map<Key>& cells, bool clamps) {
        if (is_whole() && !clamps) {
            count_as<true, false>(cells);
        } else {
            count_as<false, true>(cells);
        }
    }
    /// Whether a key lies outside of the cells.
    __device__ __forceinline__ bool any_outside(const cell_map<Key>& cells) const {
        bool outside = false;
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            outside = outside || (is_item<false>(row) && !cells.holds(keys_[row]));
        }
        return outside;
    }

private:
    template <bool Whole, bool Clamps>
    __device__ __forceinline__ void move_as(const cell_map<Key>& cells, std::uint32_t* room,
                                            Key* to) {
        const int thread = static_cast<int>(threadIdx.x);
        if (thread < digits) shared_.counts[thread] = 0;
        if (thread == 0) {
            shared_.hot_count = 0;
            shared_.shift = cells.shift;
        }
        for (int i = thread; i < P::warps * P::rounds; i += P::threads)
            (&shared_.gaps[0][0])[i] = 0;
        arch::sync_block();  // counts and gaps are clear
        count_as<Whole, Clamps>(cells);
        arch::sync_block();  // counts are whole
        forget_cells();
        lay_out(room);
        arch::sync_block();  // runs are laid out
        if (shared_.hot_count == 0) {
            // Some atomics in flight at once; all of them would need registers for their results.
            constexpr int batch = 8;
#pragma unroll
            for (int first = 0; first < P::rows; first += batch) {
                std::uint32_t slots[batch];
#pragma unroll
                for (int row = first; row < first + batch && row < P::rows; ++row) {
                    if (!is_item<Whole>(row)) continue;
                    const std::uint32_t cell = cells.template number<Clamps>(keys_[row]);
                    slots[row - first] = arch::fetch_add(shared_.counts + cell, 1);
                }
#pragma unroll
                for (int row = first; row < first + batch && row < P::rows; ++row) {
                    if (is_item<Whole>(row)) stage()[slots[row - first]] = keys_[row];
                }
            }
        } else {
            stage_hot<Whole, Clamps>(cells);
        }
        arch::sync_block();  // keys are staged
        write<Clamps>(cells, to);
    }

    template <bool Whole, bool Clamps>
    __device__ __forceinline__ void count_as(const cell_map<Key>& cells) {
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (is_item<Whole>(row)) {
                arch::count_up(shared_.counts + cells.template number<Clamps>(keys_[row]));
            }
        }
    }

    /// Cells are cheaper computed again than held in registers.
    __device__ __forceinline__ void forget_cells() {
#pragma unroll
        for (int row = 0; row < P::rows; ++row) arch::forget_derived(keys_[row]);
    }

    /// Reserves room and lays out the runs, a thread a cell.
    __device__ __forceinline__ void lay_out(std::uint32_t* room) {
        const int cell = static_cast<int>(threadIdx.x);
        constexpr auto misfit = static_cast<std::uint32_t>(P::run_alignment - 1);
        std::uint32_t count = 0;
        std::uint32_t run_begin = 0;
        if (cell < digits) {
            count = shared_.counts[cell];
            if (count != 0) run_begin = arch::fetch_add(room + cell, count);
            shared_.offsets[cell] = run_begin + count;
            if (count > P::tile_items / 10) {
                const std::uint32_t hot = arch::fetch_add(&shared_.hot_count, 1);
                if (hot < 2) shared_.hot[hot] = static_cast<std::uint32_t>(cell);
            }
        }
        arch::sync_block();  // the end of the run before is written
        std::uint32_t gap = 0;
        if (cell < digits) {
            // The run before ends at its end in memory, modulo the alignment.
            const int before = cell - 1;
            gap = (run_begin - (cell == 0 ? 0 : shared_.offsets[before])) & misfit;
        }
        const std::uint32_t first = gap + block::exclusive_digit_sum(gap + count, shared_.sums);
        if (cell >= digits) return;
        shared_.counts[cell] = first;
        shared_.offsets[cell] = run_begin - first;
        if (cell == digits - 1) shared_.end = first + count;
        for (std::uint32_t slot = first - gap; slot < first; ++slot) {
            const std::uint32_t word = slot / 32;
            arch::set_bits(&shared_.gaps[word % P::warps][word / P::warps], 1U << slot % 32);
        }
    }

    /// Stages a tile in which up to two cells are hot: a warp reserves their slots at once and
    /// deals them out by ballots, because atomics that meet in a word wait for each other.
    template <bool Whole, bool Clamps>
    __device__ __forceinline__ void stage_hot(const cell_map<Key>& cells) {
        const std::uint32_t hot[2] = {shared_.hot[0],
                                      shared_.hot_count > 1 ? shared_.hot[1] : digits};
        std::uint32_t own = 0;  // keys of both
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (!is_item<Whole>(row)) continue;
            const std::uint32_t cell = cells.template number<Clamps>(keys_[row]);
            own += cell == hot[0] ? 1U : cell == hot[1] ? 0x10000U : 0U;
        }
        own = warp::reduce_any_order(own, [](std::uint32_t a, std::uint32_t b) { return a + b; });
        std::uint32_t next[2] = {0, 0};
        if (arch::lane() == 0) {
            next[0] = arch::fetch_add(shared_.counts + hot[0], own & 0xffffU);
            if (hot[1] < digits) next[1] = arch::fetch_add(shared_.counts + hot[1], own >> 16);
        }
        next[0] = arch::shuffle(next[0], 0);
        next[1] = arch::shuffle(next[1], 0);
        cell_map<Key> again = cells;
        again.shift = shared_.reload_shift();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const bool item = is_item<Whole>(row);
            const std::uint32_t cell = again.template number<Clamps>(keys_[row]);
            const bool is_first = item && cell == hot[0];
            const bool is_second = item && cell == hot[1];
            const std::uint32_t of_first = arch::ballot(is_first);
            const std::uint32_t of_second = arch::ballot(is_second);
            std::uint32_t slot =
                is_first ? next[0] + rank_in(of_first) : next[1] + rank_in(of_second);
            if (item && !is_first && !is_second) slot = arch::fetch_add(shared_.counts + cell, 1);
            if (item) stage()[slot] = keys_[row];
            next[0] += static_cast<std::uint32_t>(arch::bit_count(of_first));
            next[1] += static_cast<std::uint32_t>(arch::bit_count(of_second));
            // Votes of all rows at once would need more registers than there are.
            if (row % 4 == 3) arch::sync_warp();
        }
    }
    __device__ __forceinline__ static std::uint32_t rank_in(std::uint32_t lanes) {
        return static_cast<std::uint32_t>(arch::bit_count(lanes & arch::lanes_below()));
    }

    template <bool Clamps>
    __device__ __forceinline__ void write(const cell_map<Key>& cells, Key* to) const {
        const std::uint32_t end = shared_.end;
        constexpr int batch = 4;  // loads in flight at once
#pragma unroll
        for (int first = 0; first < P::rounds; first += batch) {
            if (static_cast<std::uint32_t>(first * P::threads) >= end) break;
            Key keys[batch];
            const uint4 gaps =
                *reinterpret_cast<const uint4*>(&shared_.gaps[threadIdx.x / 32][first]);
            const std::uint32_t no_keys[batch] = {gaps.x, gaps.y, gaps.z, gaps.w};
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                keys[i] = stage()[slot_of(first + i)];
            }
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                const std::uint32_t at = slot_of(first + i);
                if (at >= end || (no_keys[i] >> threadIdx.x % 32 & 1) != 0) continue;
                const std::uint32_t cell = cells.template number<Clamps>(keys[i]);
                to[shared_.offsets[cell] + at] = keys[i];
            }
        }
    }
    __device__ __forceinline__ static std::uint32_t slot_of(int round) {
        return static_cast<std::uint32_t>(round * P::threads) + threadIdx.x;
    }

    __device__ __forceinline__ Key* stage() const {
        return reinterpret_cast<Key*>(shared_.stage);
    }
    /// Where a row's key is in the tile.
    __device__ __forceinline__ static int index(int row) {
        return (row / vector::items * P::threads + static_cast<int>(threadIdx.x)) * vector::items +
               row % vector::items;
    }
    template <bool Whole>
    __device__ __forceinline__ bool is_item(int row) const {
        return Whole || static_cast<std::uint32_t>(index(row)) - begin_ < size_;
    }

    partition_shared<P>& shared_;
    const Key* from_;  ///< aligned; its first `begin_` keys are not the tile's
    std::uint32_t begin_;
    std::uint32_t size_;
    Key keys_[P::rows];
};

}  // namespace lookback::device
