// CUDA backend: from a scan_operator to the types of operator and item that a kernel is compiled
// for. Invariant: what is the same for signed and unsigned items (all but min and max) is compiled
// once.
#pragma once

#include <lookback/kernels/core/operators.hpp>
#include <lookback/scan.hpp>

#include <concepts>
#include <cstring>
#include <type_traits>

namespace lookback::cuda {

/// The type whose kernels serve T where the sign makes no difference.
template <class T>
struct wrapped_item {
    using type = T;
};
template <std::signed_integral T>
struct wrapped_item<T> {
    using type = std::make_unsigned_t<T>;
};

template <class Item, class T>
Item same_bits(const T& value) {
    static_assert(sizeof(Item) == sizeof(T));
    Item item;
    std::memcpy(&item, &value, sizeof(T));
    return item;
}

/// Floating-point sums and products, whose bits depend on the order of combination.
template <class Item, class Op>
inline constexpr bool order_shows = std::is_floating_point_v<Item> &&
                                    (std::is_same_v<Op, core::plus> ||
                                     std::is_same_v<Op, core::multiplies>);

/// work(Item(), Op()) for the operator. The API has refused operators that T does not have.
template <class T, class Work>
auto by_operator(scan_operator op, Work work) {
    using bits = typename wrapped_item<T>::type;
    if constexpr (std::is_integral_v<T>) {
        if (op == scan_operator::bit_and) return work(bits{}, core::bit_and{});
        if (op == scan_operator::bit_or) return work(bits{}, core::bit_or{});
        if (op == scan_operator::bit_xor) return work(bits{}, core::bit_xor{});
    }
    if (op == scan_operator::minimum) return work(T{}, core::minimum{});
    if (op == scan_operator::maximum) return work(T{}, core::maximum{});
    if (op == scan_operator::multiplies) return work(bits{}, core::multiplies{});
    return work(bits{}, core::plus{});
}

}  // namespace lookback::cuda
