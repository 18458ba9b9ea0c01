// Level L5 (device): one block sorts a small array, or one bucket of a large one, in shared memory:
// keys and values lie as they came, and an array of places is sorted by one digit after the other.
// Invariant: stable. Places are sorted by an atomic an item, which is stable if lanes that meet are
// served in their order; as nothing promises it, the result is checked while it is written, and
// what fails is sorted again by ballots.
#pragma once

#include <lookback/kernels/device/radix_local_places.cuh>

namespace lookback::device {

template <class P, class Key, class Value>
class local_sorter : private local_places<P, Key, Value> {
    using places = local_places<P, Key, Value>;
    using places::each_row;
    using places::job_;
    using places::key_of;
    using places::ordered;
    using places::pass;
    using places::place_bits;
    using places::place_in;
    using places::shared_;
    using places::take_back;

public:
    using places::local_places;  // the constructor

    __device__ __forceinline__ void run() {
        Key keys[P::rows];
        const std::uint64_t differ = load(keys);
        const int high = differ == 0 ? 0 : core::highest_bit_64(differ) + 1;
        const int lowest = differ == 0 ? 0 : core::highest_bit_64(differ & (0 - differ));
        // Two digits tell most keys apart; the others are few and are sorted where they lie.
        constexpr int most = 2 * block::digit_bits;
        const int low = high - most > lowest ? high - most : lowest;
        sort_by_two(keys, low, high - low);
        if (low == lowest) {
            write([](std::uint32_t before, std::uint32_t word) { return before < word; });
        } else {
            mend();
            if (shared_.crowded == 0) {
                write([](std::uint32_t, std::uint32_t) { return true; });
            } else {
                sort_by_all(lowest, high, false);
                write([&](std::uint32_t before, std::uint32_t word) {
                    const Key earlier = key_of(before);
                    const Key own = key_of(word);
                    return earlier < own || (earlier == own && place_in(before) < place_in(word));
                });
            }
        }
        arch::sync_block();  // it is known whether the order was right, and it is read
        if (shared_.refused == 0) return;
        sort_by_all(lowest, high, true);
        write([](std::uint32_t, std::uint32_t) { return true; });
    }

private:
    /// Loads the array; the bits of ordered() in which keys differ. Ends in a barrier.
    __device__ __forceinline__ std::uint64_t load(Key (&keys)[P::rows]) {
        const Key* from = arch::global(job_.keys_from);
        const Key first = ordered(from[0]);
        each_row(
            [&](int row, int place, bool is_item) { keys[row] = is_item ? from[place] : Key{}; });
        if constexpr (has_value<Value>) {
            if (job_.values_from != nullptr) copy_values();
        }
        if (threadIdx.x == 0) {
            shared_.differ[0] = shared_.differ[1] = 0;
            shared_.refused = shared_.crowded = shared_.runs = shared_.before_order = 0;
        }
        arch::sync_block();  // the words are clear
        std::uint64_t differ = 0;
        each_row([&](int row, int place, bool is_item) {
            if (!is_item) return;
            shared_.keys[place] = keys[row];
            differ |= static_cast<Key>(ordered(keys[row]) ^ first);
        });
        const auto either = [](std::uint64_t a, std::uint64_t b) { return a | b; };
        differ = warp::reduce_any_order(differ, either);
        if (arch::lane() == 0) {
            arch::set_bits(&shared_.differ[0], static_cast<std::uint32_t>(differ));
            if constexpr (sizeof(Key) > 4) {
                arch::set_bits(&shared_.differ[1], static_cast<std::uint32_t>(differ >> 32));
            }
        }
        arch::sync_block();  // all warps' bits are in
        return std::uint64_t{shared_.differ[1]} << 32 | shared_.differ[0];
    }
    __device__ __forceinline__ void copy_values() {
        constexpr int word = sizeof(Value) < 8 ? 4 : 8;
        constexpr int words = static_cast<int>(sizeof(Value)) / word;
        const auto* from = reinterpret_cast<const unsigned char*>(job_.values_from);
        auto* to = reinterpret_cast<unsigned char*>(shared_.values);
        for (int i = static_cast<int>(threadIdx.x); i < job_.size * words; i += P::threads) {
            arch::copy_async<word>(to + i * word, from + i * word);
        }
    }

    /// Sorts by the bits [low, low + width) of ordered(), width <= 16. Ends in a barrier.
    __device__ __forceinline__ void sort_by_two(const Key (&keys)[P::rows], int low, int width) {
        const std::uint32_t mask = (1U << width) - 1;
        std::uint32_t words[P::rows];
        each_row([&](int row, int place, bool is_item) {
            if (!is_item) return;
            const auto bits = static_cast<std::uint32_t>(ordered(keys[row]) >> low) & mask;
            words[row] = bits << place_bits | static_cast<std::uint32_t>(place);
        });
        pass(
            words, [](std::uint32_t word) { return word >> place_bits & (digits - 1U); }, false);
        if (width > block::digit_bits) {
            take_back(words);
            pass(
                words, [](std::uint32_t word) { return word >> (place_bits + block::digit_bits); },
                false);
        }
        arch::wait_for_all_copies();
        arch::sync_block();  // the order is written, and the values are there
    }

    /// Sorts by the bits [low, high) of ordered(), a digit after the other. Ends in a barrier.
    __device__ __forceinline__ void sort_by_all(int low, int high, bool carefully) {
        std::uint32_t words[P::rows];
        each_row([&](int row, int place, bool is_item) {
            words[row] = static_cast<std::uint32_t>(place);
            if (is_item) shared_.order[place] = words[row];
        });
#pragma unroll 1
        for (int shift = low; shift < high; shift += block::digit_bits) {
            const int left = high - shift;
            const std::uint32_t mask = left < block::digit_bits ? (1U << left) - 1 : digits - 1U;
            if (shift > low) take_back(words);
            pass(
                words,
                [&](std::uint32_t word) {
                    return static_cast<std::uint32_t>(key_of(word) >> shift) & mask;
                },
                carefully);
        }
        arch::sync_block();  // the order is written
    }
    /// Checks that the words ascend, and sorts the runs of those that agree above their places, a
    /// thread a run, by the bits of their keys that were not looked at. Ends in a barrier.
    __device__ __forceinline__ void mend() {
        auto* runs = &shared_.cursors[0][0];
        const auto top = [&](int slot) { return shared_.order[slot] >> place_bits; };
        for (int i = static_cast<int>(threadIdx.x); i + 1 < job_.size; i += P::threads) {
            const std::uint32_t own = top(i);
            if (shared_.order[i] >= shared_.order[i + 1]) shared_.refused = 1;
            if (top(i + 1) != own || (i > 0 && top(i - 1) == own)) continue;
            int end = i + 2;
            while (end < job_.size && end - i <= longest_run && top(end) == own) ++end;
            const std::uint32_t run = arch::fetch_add(&shared_.runs, 1);
            if (end - i > longest_run || run >= P::warps * digits) {
                shared_.crowded = 1;
            } else {
                runs[run] = static_cast<std::uint32_t>(i | (end - i) << 16);
            }
        }
        arch::sync_block();  // runs are listed
        if (shared_.crowded != 0) return;
        for (std::uint32_t run = threadIdx.x; run < shared_.runs; run += P::threads) {
            sort_run(shared_.order + (runs[run] & 0xffffU), static_cast<int>(runs[run] >> 16));
        }
        arch::sync_block();  // runs are sorted
    }
    __device__ __forceinline__ void sort_run(std::uint32_t* run, int size) {
        for (int unsorted = 1; unsorted < size; ++unsorted) {
            const std::uint32_t word = run[unsorted];
            const Key key = key_of(word);
            int hole = unsorted;
            for (; hole > 0 && key < key_of(run[hole - 1]); --hole) run[hole] = run[hole - 1];
            run[hole] = word;
        }
    }

    /// Writes the items in order, and tells whether their words ascend.
    template <class Ascends>
    __device__ __forceinline__ void write(Ascends ascends) {
        bool all = true;
#pragma unroll 4
        for (int slot = static_cast<int>(threadIdx.x); slot < job_.size; slot += P::threads) {
            const std::uint32_t word = shared_.order[slot];
            const std::uint32_t place = place_in(word);
            // One word below: before_order for slot 0, which nothing precedes.
            const std::uint32_t before = (&shared_.before_order)[slot];
            all &= slot == 0 || ascends(before, word);
            if (job_.keys_to != nullptr) arch::global(job_.keys_to)[slot] = shared_.keys[place];
            if constexpr (has_value<Value>) {
                Value value{};
                if (job_.values_from != nullptr) {
                    value = shared_.values[place];
                } else if constexpr (std::is_integral_v<Value>) {
                    value = static_cast<Value>(place);
                }
                arch::global(job_.values_to)[slot] = value;
            }
        }
        if (!all) shared_.refused = 1;
    }

    static constexpr int longest_run = 16;
};

/// A whole array that fits one block.
template <class P, class Key, class Value>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    sort_whole(const local_job<Key, Value> job, const core::key_order<Key> order) {
    auto& shared = *static_cast<local_shared<P, Key, Value>*>(arch::dynamic_shared());
    local_sorter<P, Key, Value>(shared, order, job).run();
}

}  // namespace lookback::device
