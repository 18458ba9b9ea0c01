#include "cpu/radix_keys.hpp"

#include "cpu/wide_keys.hpp"

#include <algorithm>
#include <limits>

namespace lookback::cpu {

template <class Order>
void sort_keys(executor& executor, memory_resource& memory,
               std::span<typename Order::bits_type> keys, Order order, int begin_bit, int end_bit) {
    using Bits = typename Order::bits_type;
    if constexpr (sizeof(Bits) >= 4) {
        if (end_bit - begin_bit == 8 * static_cast<int>(sizeof(Bits))) {
            sort_wide_keys(executor, memory, keys, make_mapping(order));
            return;
        }
    }
    constexpr Bits all = std::numeric_limits<Bits>::max();
    const int width = end_bit - begin_bit;
    const Bits mask = width <= 0 ? Bits{0} : static_cast<Bits>(all >> (8 * sizeof(Bits) - width));
    std::stable_sort(keys.begin(), keys.end(), [=](Bits a, Bits b) {
        return ((order(a) >> begin_bit) & mask) < ((order(b) >> begin_bit) & mask);
    });
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
