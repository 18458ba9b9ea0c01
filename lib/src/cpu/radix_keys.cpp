#include "cpu/radix_keys.hpp"

#include "cpu/digit_map.hpp"
#include "cpu/key_window.hpp"
#include "cpu/narrow_keys.hpp"
#include "cpu/wide_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lookback::cpu {
namespace {

// Fewer one-byte keys than these are not worth walking all patterns; two-byte keys have more.
constexpr std::size_t counted_from = 8192;

}  // namespace

template <class Order>
void sort_keys(executor& executor, memory_resource& memory,
               std::span<typename Order::bits_type> keys, Order order, int begin_bit, int end_bit) {
    using Bits = typename Order::bits_type;
    if (keys.size() < 2) return;
    constexpr std::size_t key_bytes = sizeof(Bits);
    if (end_bit - begin_bit == 8 * static_cast<int>(key_bytes)) {
        if constexpr (key_bytes >= 4) {
            sort_wide_keys(executor, memory, keys, make_mapping(order));
            return;
        } else if (keys.size() >= counted_from * key_bytes * key_bytes) {
            if (sort_by_counts(executor, keys, order)) return;
        }
    }
    sort_by_digits(executor, memory, keys, order, begin_bit, end_bit);
}

std::size_t sort_keys_memory(std::size_t n, std::size_t key_bytes, int threads) {
    if (key_bytes < 4) {
        // A second array where they are not counted, and two counters a pattern and thread.
        return n * key_bytes +
               static_cast<std::size_t>(threads) * (std::size_t{2} << 16) * sizeof(std::uint64_t);
    }
    // Buckets and their open lines, and for each thread the counters of a window and a bucket, of
    // 2^20 keys at most, or the room of its pieces: 13/6 of its keys, in 4096 pieces of 11 vectors
    // of 16 at most.
    constexpr int most_digit_bits = 12;
    constexpr std::size_t most_pieces = std::size_t{4096} * 11 * 16;
    const std::size_t bucket = std::min(n, std::size_t{1} << 20);
    const std::size_t room = std::max(bucket, std::min(bucket * 9 / 4 + 512, most_pieces)) + 64;
    const std::size_t rooms = static_cast<std::size_t>(threads) *
                              (room * key_bytes + most_window_counters(n) * sizeof(std::uint32_t));
    return rooms + (key_bytes > 4 ? partition_memory<std::uint64_t>(n, threads, most_digit_bits)
                                  : partition_memory<std::uint32_t>(n, threads, most_digit_bits));
}

template void sort_keys(executor&, memory_resource&, std::span<std::uint8_t>,
                        core::integer_order<std::uint8_t>, int, int);
template void sort_keys(executor&, memory_resource&, std::span<std::uint16_t>,
                        core::integer_order<std::uint16_t>, int, int);
template void sort_keys(executor&, memory_resource&, std::span<std::uint32_t>,
                        core::integer_order<std::uint32_t>, int, int);
template void sort_keys(executor&, memory_resource&, std::span<std::uint64_t>,
                        core::integer_order<std::uint64_t>, int, int);
template void sort_keys(executor&, memory_resource&, std::span<std::uint16_t>,
                        core::float_order<std::uint16_t>, int, int);
template void sort_keys(executor&, memory_resource&, std::span<std::uint32_t>,
                        core::float_order<std::uint32_t>, int, int);
template void sort_keys(executor&, memory_resource&, std::span<std::uint64_t>,
                        core::float_order<std::uint64_t>, int, int);

}  // namespace lookback::cpu
