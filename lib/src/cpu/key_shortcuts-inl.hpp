// CPU backend, compiled once a SIMD target: input that needs no sorting pass.
// Invariant: each function either leaves the sorted keys and says true, or has changed nothing.
// A wrong guess is cheap: every check stops soon after the first key that contradicts it.
#if defined(LOOKBACK_KEY_SHORTCUTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_KEY_SHORTCUTS_INL
#undef LOOKBACK_KEY_SHORTCUTS_INL
#else
#define LOOKBACK_KEY_SHORTCUTS_INL
#endif

#include "cpu/executor.hpp"
#include "cpu/key_mapping.hpp"
#include "cpu/key_runs.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

/// Keys of one task of the checks, and of one look at whether they still hold.
inline constexpr std::size_t check_keys = std::size_t{1} << 18;
inline constexpr std::size_t glance_keys = 2048;

/// holds(begin, end) for consecutive parts of [0, n), on all threads, until one says no.
template <class Holds>
bool holds_everywhere(executor& executor, std::size_t n, const Holds& holds) {
    if (!holds(0, std::min(n, glance_keys))) return false;
    std::atomic<bool> still{true};
    executor.for_each((n + check_keys - 1) / check_keys, [&](std::size_t task) {
        const std::size_t end = std::min(n, (task + 1) * check_keys);
        for (std::size_t i = task * check_keys; i < end; i += glance_keys) {
            if (!still.load(std::memory_order_relaxed)) return;
            if (!holds(i, std::min(end, i + glance_keys))) {
                still.store(false, std::memory_order_relaxed);
            }
        }
    });
    return still.load();
}

template <class Bits>
bool all_same(const Bits* keys, std::size_t n, Bits value) {
    Bits differ = 0;
    for (std::size_t i = 0; i < n; ++i) differ = static_cast<Bits>(differ | (keys[i] ^ value));
    return differ == 0;
}

/// Whether each of the n keys stands before or beside the key that follows it.
template <bool Reversed, class Mapping>
bool in_order(const Mapping& mapping, const typename Mapping::bits_type* keys, std::size_t n) {
    unsigned wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto a = mapping.rank(keys[i]);
        const auto b = mapping.rank(keys[i + 1]);
        wrong |= static_cast<unsigned>(Reversed ? a < b : b < a);
    }
    return wrong == 0;
}

template <class Bits>
void reverse_keys(executor& executor, std::span<Bits> keys) {
    const std::size_t half = keys.size() / 2;
    executor.for_each((half + check_keys - 1) / check_keys, [&](std::size_t task) {
        const std::size_t begin = task * check_keys;
        const std::size_t end = std::min(half, begin + check_keys);
        Bits* const front = keys.data();
        Bits* const back = keys.data() + keys.size();
        std::array<Bits, glance_keys> held;
        for (std::size_t i = begin; i < end; i += glance_keys) {
            const std::size_t n = std::min(glance_keys, end - i);
            std::copy_n(front + i, n, held.begin());
            std::reverse_copy(back - i - n, back - i, front + i);
            std::reverse_copy(held.begin(), held.begin() + n, back - i - n);
        }
    });
}

/// Turns reversed keys around; equal keys with different bits keep their order.
template <class Mapping>
void turn_around(executor& executor, const Mapping& mapping,
                 std::span<typename Mapping::bits_type> keys) {
    reverse_keys(executor, keys);
    if constexpr (Mapping::has_specials) {
        using bits_type = typename Mapping::bits_type;
        for (const bits_type special : {bits_type{0}, static_cast<bits_type>(~bits_type{0})}) {
            const auto rank = mapping.rank(special);
            const auto begin = std::partition_point(
                keys.begin(), keys.end(), [&](bits_type k) { return mapping.rank(k) < rank; });
            const auto end = std::partition_point(
                begin, keys.end(), [&](bits_type k) { return mapping.rank(k) == rank; });
            std::reverse(begin, end);
        }
    }
}

/// All equal, sorted or reversed.
template <class Mapping>
bool finish_ordered(executor& executor, const Mapping& mapping,
                    std::span<typename Mapping::bits_type> keys) {
    const auto* const data = keys.data();
    const std::size_t n = keys.size();
    if (n < 2) return true;
    if (holds_everywhere(executor, n, [&](std::size_t begin, std::size_t end) {
            return all_same(data + begin, end - begin, data[0]);
        })) {
        return true;
    }
    if (holds_everywhere(executor, n - 1, [&](std::size_t begin, std::size_t end) {
            return in_order<false>(mapping, data + begin, end - begin);
        })) {
        return true;
    }
    if (holds_everywhere(executor, n - 1, [&](std::size_t begin, std::size_t end) {
            return in_order<true>(mapping, data + begin, end - begin);
        })) {
        turn_around(executor, mapping, keys);
        return true;
    }
    return false;
}

/// Adds to seen[v] how many keys of [begin, end) are equal to values[v], by whole vectors. The
/// hardware's own prefetching ends at each page, so keys a glance ahead are asked for meanwhile: 19
/// - 23 ms in place of 28 for 2^26 keys of two values and one thread.
template <class Bits>
void count_values(std::span<const Bits> keys, std::size_t begin, std::size_t end,
                  const std::vector<Bits>& values, std::span<std::size_t> seen) {
    constexpr std::size_t block = 1024 / sizeof(Bits);
    constexpr std::size_t line = 64 / sizeof(Bits);
    for (; begin < end; begin += block) {
        const std::size_t n = std::min(block, end - begin);
        const Bits* const some = keys.data() + begin;
        if (begin + glance_keys + block <= keys.size()) {
            for (std::size_t i = 0; i < block; i += line) {
                __builtin_prefetch(some + glance_keys + i, 0, 2);
            }
        }
        for (std::size_t v = 0; v < values.size(); ++v) {
            const Bits value = values[v];
            Bits count = 0;  // of 1024 at most
            for (std::size_t i = 0; i < n; ++i) {
                count = static_cast<Bits>(count + Bits{some[i] == value});
            }
            seen[v] += count;
        }
    }
}

/// At most eight values: counts the keys that are equal to each.
template <class Mapping>
bool finish_few_values(executor& executor, const Mapping& mapping,
                       std::span<typename Mapping::bits_type> keys) {
    using bits_type = typename Mapping::bits_type;
    constexpr std::size_t most = 8;
    constexpr std::size_t looks = 1024;
    if (keys.size() < 2 * looks) return false;
    std::vector<bits_type> values;
    for (std::size_t i = 0; i < looks; ++i) {
        const bits_type key = keys[keys.size() / looks * i + i % 16];
        if (std::find(values.begin(), values.end(), key) != values.end()) continue;
        if constexpr (Mapping::has_specials) {
            if (Mapping::is_zero(key) || Mapping::is_nan(key)) {
                // Only one pattern of its class may occur, else their order would be lost.
                for (const bits_type other : values) {
                    if (mapping.rank(other) == mapping.rank(key)) return false;
                }
            }
        }
        if (values.size() == most) return false;
        values.push_back(key);
    }
    std::array<std::atomic<std::size_t>, most> total{};
    const bool known =
        holds_everywhere(executor, keys.size(), [&](std::size_t begin, std::size_t end) {
            std::array<std::size_t, most> seen{};
            count_values<bits_type>(keys, begin, end, values, seen);
            // The glance that holds_everywhere() takes first is read again by the first task.
            for (std::size_t v = 0; v < values.size(); ++v) {
                total[v].fetch_add(seen[v], std::memory_order_relaxed);
            }
            return std::accumulate(seen.begin(), seen.end(), std::size_t{0}) == end - begin;
        });
    if (!known) return false;
    std::vector<key_count<bits_type>> runs;
    for (std::size_t v = 0; v < values.size(); ++v) runs.push_back({values[v], total[v].load()});
    const std::size_t glance = std::min(keys.size(), glance_keys);
    for (std::size_t i = 0; i < glance; ++i) {
        --std::find_if(runs.begin(), runs.end(), [&](const auto& run) {
              return run.key == keys[i];
          })->count;
    }
    std::sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
        return mapping.rank(a.key) < mapping.rank(b.key);
    });
    write_runs<bits_type>(executor, runs, keys);
    return true;
}

/// Sorts the keys and says true where that takes no sorting.
template <class Mapping>
bool finish_without_sorting(executor& executor, const Mapping& mapping,
                            std::span<typename Mapping::bits_type> keys) {
    return finish_ordered(executor, mapping, keys) || finish_few_values(executor, mapping, keys);
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
