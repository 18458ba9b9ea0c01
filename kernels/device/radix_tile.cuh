// Level L5 (device): one tile of a radix sort by one digit: keys in registers, ranked, staged in
// shared memory in sorting order, written out in runs; then the values the same way.
// Invariant: stable. Items beyond the end of the array take the last digit, after all others of it,
// and are never written.
// Source: Adinets and Merrill, "Onesweep" (2022); Merrill and Grimshaw, "High performance and
// scalable radix sorting" (2011).
#pragma once

#include <lookback/kernels/device/radix_runs.cuh>

namespace lookback::device {

/// What the tiles of a launch have in common. In shared memory: held in registers from tile to tile
/// it would spill.
struct tile_common {
    const void* keys_from;
    void* keys_to;            ///< null: keys are not wanted
    const void* values_from;  ///< null: values are positions
    void* values_to;
    const index_t* base;  ///< where each digit's items of the portion begin
    std::uint32_t turn;
    bool first;      ///< no pass ran before
    bool identical;  ///< keys that are equal are the same bits: only the bits need to be sorted
};

/// Shared memory of a block that sorts tiles.
template <class P>
struct radix_shared {
    union {
        block::rank_cell cells[P::warps][digits];  ///< stable ranks
        std::uint32_t by_warp[P::warps][digits];   ///< fast ranks
    };
    alignas(16) unsigned char stage[P::stage_items * P::staged_bytes];
    tile_runs runs;
    tile_common common;
    std::uint32_t refused;  ///< not 0: fast ranks were found wrong
    index_t tile;
};

template <class P, class Key, class Value>
class radix_tile {
public:
    using shared_memory = radix_shared<P>;
    using place_type = digit_place<Key>;

    __device__ __forceinline__ radix_tile(shared_memory& shared, int size)
        : shared_(shared),
          size_(size),
          first_(arch::warp() * P::rows * arch::warp_lanes + arch::lane()) {}

    /// Keys of the tile, which starts at `from`.
    __device__ __forceinline__ void load_keys(const Key* from) { load(from, keys_); }

    /// Ranks the keys inside their warps; thread d (< 256) gets the tile's count of digit d.
    __device__ __forceinline__ std::uint32_t rank(const place_type& place) {
        block::warp_ranks ranks(shared_.cells[arch::warp()], hot_digit(place));
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const std::uint32_t digit = is_item(row) ? place(keys_[row]) : place.mask;
            slots_.set(row, ranks.rank(digit));
            if (row % 4 == 0) ranks.look_at_crowding();
        }
        arch::sync_block();  // all warps' counts are written
        const std::uint32_t count = sum_counts([&](int warp, int digit) -> std::uint32_t& {
            return shared_.cells[warp][digit].count;
        });
        const int beyond = P::tile_items - size_;
        return threadIdx.x == place.mask ? count - static_cast<std::uint32_t>(beyond) : count;
    }

    /// Ranks by an atomic a key: stable if colliding lanes of one instruction are served in their
    /// order, as they were in all measurements; nothing promises it, so is_sorted() must be asked.
    __device__ __forceinline__ std::uint32_t rank_fast(const place_type& place) {
        std::uint32_t* own = shared_.by_warp[arch::warp()];
        const std::uint32_t hot = hot_digit(place);
        if (threadIdx.x == 0) shared_.refused = 0;
#pragma unroll
        for (int i = 0; i < digits; i += arch::warp_lanes) own[i + arch::lane()] = 0;
        arch::sync_warp();  // counts are clear
        if (hot == block::no_digit) {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                if (is_item(row)) slots_.set(row, arch::fetch_add(own + place(keys_[row]), 1));
                arch::sync_warp();  // rows take their ranks one after the other
            }
        } else {
            rank_beside(hot, place, own);
        }
        arch::sync_block();  // all warps' counts are written
        return sum_counts(
            [&](int warp, int digit) -> std::uint32_t& { return shared_.by_warp[warp][digit]; });
    }

    /// Lays the runs of the digits out in slots; thread d (< 256) passes the count of its digit and
    /// where its run begins in the output. Ends in a barrier.
    __device__ __forceinline__ void lay_out(std::uint32_t count, index_t run_begin, bool fast) {
        if (threadIdx.x < digits) shared_.runs.counts[threadIdx.x] = count;
        const std::uint32_t first = lay_out_runs<P::run_alignment>(shared_.runs, run_begin);
        if (fast) {
            begin_warps(first, [&](int warp, int digit) -> std::uint32_t& {
                return shared_.by_warp[warp][digit];
            });
        } else {
            begin_warps(first, [&](int warp, int digit) -> std::uint32_t& {
                return shared_.cells[warp][digit].count;
            });
        }
    }

    /// Puts the keys into their slots. Ends in a barrier.
    __device__ __forceinline__ void stage_keys(const place_type& place) {
        const block::rank_cell* cells = shared_.cells[arch::warp()];
        Key* stage = staged<Key>();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const std::uint32_t digit = is_item(row) ? place(keys_[row]) : place.mask;
            const std::uint32_t slot = cells[digit].count + slots_.get(row);
            slots_.set(row, slot);
            stage[slot] = keys_[row];
        }
        arch::sync_block();  // keys are staged
    }

    /// The same after fast ranks.
    __device__ __forceinline__ void stage_fast(const place_type& place) {
        const std::uint32_t* own = shared_.by_warp[arch::warp()];
        Key* stage = staged<Key>();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            if (is_item(row)) stage[own[place(keys_[row])] + slots_.get(row)] = keys_[row];
        }
        arch::sync_block();  // keys are staged
    }

    /// Whether the staged keys of each digit ascend in the bits [begin_bit, place.shift), by which
    /// the input of this pass was sorted. Ends in a barrier.
    __device__ __forceinline__ bool is_sorted(const place_type& place, int begin_bit) {
        const Key* stage = staged<Key>();
        const auto low_bits = [&](Key key) {
            const auto below = static_cast<Key>((std::uint64_t{1} << place.shift) - 1);
            return static_cast<Key>((place.order(key) & below) >> begin_bit);
        };
        bool sorted = true;
#pragma unroll 4
        for (int round = 0; round < P::rounds; ++round) {
            const auto slot = static_cast<std::uint32_t>(round * P::threads) + threadIdx.x;
            if (slot == 0 || slot >= P::stage_items) continue;
            const Key key = stage[slot];
            const std::uint32_t digit = place(key);
            if (!shared_.runs.holds(slot, digit) || !shared_.runs.holds(slot - 1, digit)) continue;
            sorted = sorted && low_bits(stage[slot - 1]) <= low_bits(key);
        }
        if (!sorted) shared_.refused = 1;
        arch::sync_block();  // all have looked
        return shared_.refused == 0;
    }

    /// Fast ranks were wrong: ranks and stages the keys anew in the same runs. Ends in a barrier.
    __device__ __forceinline__ void stage_again(const place_type& place) {
        rank(place);
        const std::uint32_t first =
            threadIdx.x < digits ? shared_.runs.extents[threadIdx.x] & 0xffffU : 0;
        begin_warps(first, [&](int warp, int digit) -> std::uint32_t& {
            return shared_.cells[warp][digit].count;
        });
        stage_keys(place);
    }

    /// Writes the staged keys to their places, or nowhere where `to` is null, and remembers the
    /// digits.
    __device__ __forceinline__ void write_keys(const place_type& place, Key* to) {
        const Key* stage = staged<Key>();
        filled_ = 0;
#pragma unroll
        for (int round = 0; round < P::rounds; ++round) {
            const auto slot = static_cast<std::uint32_t>(round * P::threads) + threadIdx.x;
            if (P::stage_items % P::threads != 0 && slot >= P::stage_items) break;
            const Key key = stage[slot];
            const std::uint32_t digit = place(key);
            const bool filled = shared_.runs.holds(slot, digit);
            if (filled && to != nullptr) to[shared_.runs.offsets[digit] + slot] = key;
            if constexpr (has_value<Value>) {
                filled_ |= std::uint32_t{filled} << round;
                std::uint32_t& packed = digits_[round / 4];
                if (round % 4 == 0) packed = 0;
                packed |= digit << (round % 4 * 8);
            }
        }
    }

    /// Values of the tile; without `from`, their positions from `index` on.
    __device__ __forceinline__ void load_values(const Value* from, index_t index) {
        if (from != nullptr) {
            load(from, values_);
        } else if constexpr (std::is_integral_v<Value>) {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                values_[row] = static_cast<Value>(index + first_ + row * arch::warp_lanes);
            }
        }
    }

    /// After write_keys(), by all threads of the block.
    __device__ __forceinline__ void move_values(Value* to) {
        arch::sync_block();  // staged keys are read
        Value* stage = staged<Value>();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) stage[slots_.get(row)] = values_[row];
        arch::sync_block();  // values are staged
#pragma unroll
        for (int round = 0; round < P::rounds; ++round) {
            const auto slot = static_cast<std::uint32_t>(round * P::threads) + threadIdx.x;
            if ((filled_ >> round & 1) == 0) continue;
            const std::uint32_t digit = digits_[round / 4] >> (round % 4 * 8) & 0xffU;
            to[shared_.runs.offsets[digit] + slot] = stage[slot];
        }
    }

private:
    __device__ __forceinline__ std::uint32_t hot_digit(const place_type& place) const {
        constexpr int row = P::rows / 2;
        return block::hot_digit(is_item(row) ? place(keys_[row]) : place.mask);
    }
    /// Ranks the lanes of a hot digit by ballots, the others by an atomic each.
    __device__ __forceinline__ void rank_beside(std::uint32_t hot, const place_type& place,
                                                std::uint32_t* own) {
        std::uint32_t hot_count = 0;
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const std::uint32_t digit = is_item(row) ? place(keys_[row]) : block::no_digit;
            const std::uint32_t peers = arch::ballot(digit == hot);
            if (digit == hot) {
                slots_.set(row, hot_count + static_cast<std::uint32_t>(
                                                arch::bit_count(peers & arch::lanes_below())));
            } else if (digit != block::no_digit) {
                slots_.set(row, arch::fetch_add(own + digit, 1));
            }
            hot_count += static_cast<std::uint32_t>(arch::bit_count(peers));
            arch::sync_warp();  // rows take their ranks one after the other
        }
        if (arch::lane() == 0) own[hot] = hot_count;
    }
    /// The warps' counts of the thread's digit.
    template <class Count>
    __device__ __forceinline__ std::uint32_t sum_counts(Count count_of) {
        const int digit = static_cast<int>(threadIdx.x);
        std::uint32_t count = 0;
        if (digit >= digits) return count;
#pragma unroll 8
        for (int warp = 0; warp < P::warps; ++warp) count += count_of(warp, digit);
        return count;
    }
    /// Turns the warps' counts of a digit into their first slots; thread d passes the digit's
    /// first. Ends in a barrier.
    template <class Count>
    __device__ __forceinline__ void begin_warps(std::uint32_t slot, Count count_of) {
        const int digit = static_cast<int>(threadIdx.x);
        if (digit < digits) {
#pragma unroll 8
            for (int warp = 0; warp < P::warps; ++warp) {
                std::uint32_t& count = count_of(warp, digit);
                const std::uint32_t here = count;
                count = slot;
                slot += here;
            }
        }
        arch::sync_block();  // the runs and the warps' slots are written
    }

    static_assert(P::rounds <= 32, "filled_ has a bit a round");
    static_assert(P::stage_items < 1 << 16, "slots are kept in 16 bits");

    template <class T>
    __device__ __forceinline__ T* staged() {
        return reinterpret_cast<T*>(shared_.stage);
    }
    __device__ __forceinline__ bool is_item(int row) const {
        return first_ + row * arch::warp_lanes < size_;
    }
    template <class T>
    __device__ __forceinline__ void load(const T* from, T (&items)[P::rows]) {
        if (size_ == P::tile_items) {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                items[row] = from[first_ + row * arch::warp_lanes];
            }
        } else {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                items[row] = T{};
                if (is_item(row)) items[row] = from[first_ + row * arch::warp_lanes];
            }
        }
    }
    shared_memory& shared_;
    int size_;
    int first_;  ///< the thread's first item
    Key keys_[P::rows];
    Value values_[P::rows];
    block::packed_numbers<P::rows> slots_;
    std::uint32_t digits_[(P::rounds + 3) / 4] = {};
    std::uint32_t filled_ = 0;
};

}  // namespace lookback::device
