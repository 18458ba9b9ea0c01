// CPU backend: one-to-one mappings of a key's bits to a number whose plain `<` sorts the keys.
// Invariant: from(to(bits)) == bits for every pattern. Keys that are equal with different bits
// (zeros of both signs, NaNs) are told apart here, so their callers keep them out of the sorting.
#pragma once

#include <lookback/kernels/core/key_order.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace lookback::cpu {

/// Signed for 64 bits, because AVX2 compares only signed numbers of that width.
template <class Bits>
using ordered_number = std::conditional_t<sizeof(Bits) == 8, std::int64_t, Bits>;

template <class Bits>
inline constexpr Bits top_bit = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

template <class Bits>
inline constexpr Bits number_bias = sizeof(Bits) == 8 ? top_bit<Bits> : Bits{0};

template <class Bits>
struct integer_mapping {
    using bits_type = Bits;
    using number = ordered_number<Bits>;
    static constexpr bool has_specials = false;

    Bits mask;  ///< turns bits into numbers and back

    number to(Bits bits) const { return static_cast<number>(bits ^ mask); }
    Bits from(number value) const { return static_cast<Bits>(static_cast<Bits>(value) ^ mask); }
    number rank(Bits bits) const { return to(bits); }
};

template <class Bits>
struct float_mapping {
    using bits_type = Bits;
    using number = ordered_number<Bits>;
    using order = core::float_order<Bits>;
    static constexpr bool has_specials = true;

    Bits flip;  ///< all bits for descending keys, with the bias of numbers
    bool nan_first;

    number to(Bits bits) const {
        const Bits negative = static_cast<Bits>(Bits{0} - static_cast<Bits>(bits / top_bit<Bits>));
        return static_cast<number>(bits ^ (negative | top_bit<Bits>)^flip);
    }
    Bits from(number value) const {
        const Bits ascending = static_cast<Bits>(static_cast<Bits>(value) ^ flip);
        const Bits negative = static_cast<Bits>(ascending / top_bit<Bits> - Bits{1});
        return static_cast<Bits>(ascending ^ (negative | top_bit<Bits>));
    }
    /// The number that all keys equal to this one share.
    number rank(Bits bits) const {
        const number nans =
            nan_first ? std::numeric_limits<number>::min() : std::numeric_limits<number>::max();
        return is_nan(bits) ? nans : to(bits == top_bit<Bits> ? Bits{0} : bits);
    }
    static bool is_nan(Bits bits) { return order::is_nan(bits); }
    static bool is_zero(Bits bits) { return static_cast<Bits>(bits << 1) == 0; }
    /// No other number stands between the two zeros: it is below both or above both.
    number lower_zero() const {
        return to(Bits{0}) < to(top_bit<Bits>) ? to(Bits{0}) : to(top_bit<Bits>);
    }
};

template <class Bits>
integer_mapping<Bits> make_mapping(core::integer_order<Bits> order) {
    return {static_cast<Bits>(order.mask ^ number_bias<Bits>)};
}

template <class Bits>
float_mapping<Bits> make_mapping(core::float_order<Bits> order) {
    return {static_cast<Bits>(order.flip ^ number_bias<Bits>), order.nan == 0};
}

template <class Order>
using mapping_of = decltype(make_mapping(std::declval<Order>()));

}  // namespace lookback::cpu
