// Level L5 (device): one tile of a radix sort by one digit. Keys and values lie in shared memory as
// they came; what is sorted is their order: a word an item, of its digit and its place. Items are
// gathered by that order when they are written.
// Invariant: stable. Slots are taken by one atomic each, which is stable if lanes that meet are
// served in their order, as they were in all measurements; nothing promises it, so whoever reads
// the order checks that its words ascend, and a tile that fails is ordered again by ballots.
#pragma once

#include <lookback/kernels/arch/copy_async.cuh>
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
};

inline constexpr int most_hot = 2;

/// Shared memory of a block that sorts tiles.
template <class P, class Key, class Value>
struct radix_shared {
    static constexpr int value_items = has_value<Value> ? P::tile_items : 1;

    alignas(16) Key keys[P::tile_items];
    alignas(16) Value values[value_items];
    alignas(16) std::uint32_t cursors[P::warps][digits];  ///< counts, then the next slots
    index_t
        origins[digits];  ///< where in the output slot 0 would go, if all slots were this digit's
    std::uint32_t before_order;  ///< zero
    std::uint32_t order[P::tile_items];
    std::uint32_t counts[digits];
    std::uint32_t firsts[digits];  ///< the digit's first slot
    std::uint32_t sums[digits / arch::warp_lanes];
    std::uint32_t hot_count;
    std::uint32_t hot[most_hot];  ///< digits that many items have
    std::uint32_t refused;        ///< not 0: the order was found wrong
    tile_common common;
    index_t tile;
};

/// A tile in the hands of the block's workers, its first P::workers threads.
template <class P, class Key, class Value>
class radix_tile {
public:
    using shared_memory = radix_shared<P, Key, Value>;
    using place_type = digit_place<Key>;
    /// Rows that a thread has in flight.
    static constexpr int batch = P::rows % 6 == 0 ? 6 : P::rows % 5 == 0 ? 5 : 4;
    /// Rounds of writing before the last quarter or so.
    static constexpr int early_rounds = P::rows * 3 / 4 / batch * batch;

    __device__ __forceinline__ explicit radix_tile(shared_memory& shared)
        : shared_(shared), first_(arch::warp() * P::rows * arch::warp_lanes + arch::lane()) {}

    /// Starts to copy the tile's values.
    __device__ __forceinline__ void copy_values(const Value* from, int size) {
        constexpr int vector = 16;
        constexpr int vectors = P::tile_items * static_cast<int>(sizeof(Value)) / vector;
        const int thread = static_cast<int>(threadIdx.x);
        if (size == P::tile_items && reinterpret_cast<std::uintptr_t>(from) % vector == 0) {
            const auto* bytes = reinterpret_cast<const unsigned char*>(from);
            auto* to = reinterpret_cast<unsigned char*>(shared_.values);
#pragma unroll
            for (int i = thread; i < vectors; i += P::workers) {
                arch::copy_async<vector>(to + i * vector, bytes + i * vector);
            }
            return;
        }
        constexpr int word = sizeof(Value) < 8 ? 4 : 8;
        constexpr int words = static_cast<int>(sizeof(Value)) / word;
        const auto* bytes = reinterpret_cast<const unsigned char*>(from);
        auto* to = reinterpret_cast<unsigned char*>(shared_.values);
        for (int i = thread; i < size * words; i += P::workers) {
            arch::copy_async<word>(to + i * word, bytes + i * word);
        }
    }

    /// Loads the keys of a tile of `size` items and counts their digits; the warp's counts are
    /// clear before.
    __device__ __forceinline__ void load_keys(const Key* from, const place_type& place, int size) {
        std::uint32_t* own = shared_.cursors[arch::warp()];
        from = arch::global(from);
        if (size == P::tile_items) {
            Key keys[P::rows];
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                keys[row] = from[first_ + row * arch::warp_lanes];
            }
            place.with_digits([&](auto digit_of) {
#pragma unroll
                for (int row = 0; row < P::rows; ++row) {
                    shared_.keys[first_ + row * arch::warp_lanes] = keys[row];
                    arch::count_up(own + digit_of(keys[row]));
                }
            });
            return;
        }
        const int end = warp_end(size);
#pragma unroll 1
        for (int item = first_; item < end; item += arch::warp_lanes) {
            const Key key = from[item];
            shared_.keys[item] = key;
            arch::count_up(own + place(key));
        }
    }

    /// Takes the slots of the warp's items and writes their order.
    __device__ __forceinline__ void take_slots(const place_type& place, int size) {
        std::uint32_t* own = shared_.cursors[arch::warp()];
        if (shared_.hot_count != 0) return take_slots_beside(own, place, size);
        place.with_digits([&](auto digit_of) {
            if (size != P::tile_items) {
                const int end = warp_end(size);
#pragma unroll 1
                for (int item = first_; item < end; item += arch::warp_lanes) {
                    const std::uint32_t digit = digit_of(shared_.keys[item]);
                    set_order(arch::fetch_add(own + digit, 1), digit, item);
                }
                return;
            }
            // Several atomics on their way before the first of their answers is needed.
#pragma unroll
            for (int first = 0; first < P::rows; first += batch) {
                std::uint32_t digit[batch];
                std::uint32_t slot[batch];
#pragma unroll
                for (int i = 0; i < batch && first + i < P::rows; ++i) {
                    digit[i] = digit_of(shared_.keys[first_ + (first + i) * arch::warp_lanes]);
                }
#pragma unroll
                for (int i = 0; i < batch && first + i < P::rows; ++i) {
                    slot[i] = arch::fetch_add(own + digit[i], 1);
                }
#pragma unroll
                for (int i = 0; i < batch && first + i < P::rows; ++i) {
                    set_order(slot[i], digit[i], first_ + (first + i) * arch::warp_lanes);
                }
            }
        });
    }

    /// The same, stable whatever the hardware does.
    __device__ __forceinline__ void take_slots_again(const place_type& place, int size) {
        std::uint32_t* own = shared_.cursors[arch::warp()];
#pragma unroll 1
        for (int row = 0; row < P::rows; ++row) {
            const int item = first_ + row * arch::warp_lanes;
            const bool is_item = item < size;
            const std::uint32_t digit = is_item ? place(shared_.keys[item]) : 0;
            const std::uint32_t peers = block::peers_by_ballots(digit) & arch::ballot(is_item);
            const std::uint32_t first = own[digit];
            arch::sync_warp();  // cursors are read
            if (is_item) {
                const auto below =
                    static_cast<std::uint32_t>(arch::bit_count(peers & arch::lanes_below()));
                shared_.order[first + below] = digit << 16 | static_cast<std::uint32_t>(item);
                if (core::highest_bit(peers) == arch::lane()) own[digit] = first + below + 1;
            }
            arch::sync_warp();  // ... and ready for the next row
        }
    }

    /// Counts the digits of keys that lie in shared memory.
    __device__ __forceinline__ void count_again(const place_type& place, int size) {
        std::uint32_t* own = shared_.cursors[arch::warp()];
#pragma unroll 1
        for (int row = 0; row < P::rows; ++row) {
            const int item = first_ + row * arch::warp_lanes;
            if (item < size) arch::count_up(own + place(shared_.keys[item]));
        }
    }

    /// Writes rounds [from, to) of P::workers slots each to `keys` and `values`; false if the order
    /// was found wrong. `begin` is the number of the tile's first item.
    template <bool WritesKeys, bool MakesIndex>
    __device__ __forceinline__ bool write(Key* keys, Value* values, int from, int to, int size,
                                          index_t begin) const {
        bool ascends = true;
        constexpr int stride = batch * P::workers;
        const int end = to * P::workers < size ? to * P::workers : size;
        int slot = from * P::workers + static_cast<int>(threadIdx.x);
#pragma unroll 1
        for (; slot + stride - P::workers < end; slot += stride) {
            ascends &= write_batch<WritesKeys, MakesIndex, true>(keys, values, slot, end, begin);
        }
        if (slot < end) {
            ascends &= write_batch<WritesKeys, MakesIndex, false>(keys, values, slot, end, begin);
        }
        return ascends;
    }

private:
    /// Where the warp's items end.
    __device__ __forceinline__ int warp_end(int size) const {
        const int end = (arch::warp() + 1) * P::rows * arch::warp_lanes;
        return end < size ? end : size;
    }
    __device__ __forceinline__ void set_order(std::uint32_t slot, std::uint32_t digit, int item) {
        shared_.order[slot] = digit << 16 | static_cast<std::uint32_t>(item);
    }
    /// The batch's first slot is `first`.
    template <bool WritesKeys, bool MakesIndex, bool Whole>
    __device__ __forceinline__ bool write_batch(Key* keys, Value* values, int first, int end,
                                                index_t begin) const {
        bool ascends = true;
        std::uint32_t item[batch];
        index_t to[batch];
#pragma unroll
        for (int i = 0; i < batch; ++i) {
            const int slot = first + i * P::workers;
            if (!Whole && slot >= end) continue;
            const std::uint32_t word = shared_.order[slot];
            // The word one below: before_order for slot 0.
            ascends &= (&shared_.before_order)[slot] <= word;
            item[i] = word & 0xffffU;
            to[i] = shared_.origins[word >> 16] + slot;
        }
        const auto is_item = [&](int i) { return Whole || first + i * P::workers < end; };
        if constexpr (WritesKeys) {
            Key key[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                if (is_item(i)) key[i] = shared_.keys[item[i]];
            }
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                if (is_item(i)) arch::global(keys)[to[i]] = key[i];
            }
        }
        if constexpr (has_value<Value>) {
            Value value[batch];
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                if (!is_item(i)) continue;
                if constexpr (MakesIndex && std::is_integral_v<Value>) {
                    value[i] = static_cast<Value>(begin + item[i]);
                } else {
                    value[i] = shared_.values[item[i]];
                }
            }
#pragma unroll
            for (int i = 0; i < batch; ++i) {
                if (is_item(i)) arch::global(values)[to[i]] = value[i];
            }
        }
        return ascends;
    }
    /// Finds the slots of hot digits by ballots.
    __device__ __forceinline__ void take_slots_beside(std::uint32_t* own, const place_type& place,
                                                      int size) {
        const std::uint32_t hot[most_hot] = {
            shared_.hot[0], shared_.hot_count > 1 ? shared_.hot[1] : block::no_digit};
        std::uint32_t next[most_hot] = {own[hot[0]], own[hot[1] % digits]};
#pragma unroll 4
        for (int row = 0; row < P::rows; ++row) {
            const int item = first_ + row * arch::warp_lanes;
            const bool is_item = item < size;
            const std::uint32_t digit = is_item ? place(shared_.keys[item]) : digits + 1U;
            std::uint32_t slot = 0;
            bool is_hot = false;
#pragma unroll
            for (int h = 0; h < most_hot; ++h) {
                const std::uint32_t peers = arch::ballot(digit == hot[h]);
                if (digit == hot[h]) {
                    slot = next[h] +
                           static_cast<std::uint32_t>(arch::bit_count(peers & arch::lanes_below()));
                    is_hot = true;
                }
                next[h] += static_cast<std::uint32_t>(arch::bit_count(peers));
            }
            if (is_item) {
                if (!is_hot) slot = arch::fetch_add(own + digit, 1);
                set_order(slot, digit, item);
            }
        }
    }

    static_assert(P::tile_items < 1 << 16, "an item's place in the tile has 16 bits");

    shared_memory& shared_;
    int first_;  ///< the thread's first item
};

}  // namespace lookback::device
