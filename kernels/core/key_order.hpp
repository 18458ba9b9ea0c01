// Level L0 (core): how the bits of a key map to an unsigned number in sorting order.
// Invariant: a key moves as its original bits; only this mapping is compared. It is many-to-one:
// -0.0 and +0.0 map to one number and so do all NaNs, so a stable sort keeps their input order.
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstddef>
#include <type_traits>

namespace lookback::core {

/// The unsigned type in which a key of so many bytes is stored.
template <std::size_t Bytes>
using key_bits = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

enum class key_kind { unsigned_integer, signed_integer, floating };

/// Order of integer keys. Direction and sign are one run-time mask, so that one kernel a width
/// serves them all.
template <class Bits>
struct integer_order {
    using bits_type = Bits;
    Bits mask;  ///< xor-ed: the sign bit for signed keys, then all bits for descending ones

    LOOKBACK_HD constexpr Bits operator()(Bits bits) const {
        return static_cast<Bits>(bits ^ mask);
    }
};

/// Order of IEEE 754 keys of 16, 32 or 64 bits: -0.0 equals +0.0, every NaN is one class that
/// stands last, or first on request, in both directions.
template <class Bits>
struct float_order {
    using bits_type = Bits;
    static constexpr int width = 8 * sizeof(Bits);
    static constexpr int mantissa = width == 16 ? 10 : width == 32 ? 23 : 52;
    static constexpr Bits sign = static_cast<Bits>(Bits{1} << (width - 1));
    static constexpr Bits infinity =
        static_cast<Bits>(((Bits{1} << (width - 1 - mantissa)) - 1) << mantissa);

    Bits flip;  ///< all bits for descending, else none
    Bits nan;   ///< what every NaN maps to: all bits or none; no number maps there

    LOOKBACK_HD static constexpr bool is_nan(Bits bits) {
        return static_cast<Bits>(bits & static_cast<Bits>(~sign)) > infinity;
    }
    LOOKBACK_HD constexpr Bits operator()(Bits bits) const {
        const Bits number = bits == sign ? Bits{0} : bits;
        const Bits negative = static_cast<Bits>(Bits{0} - static_cast<Bits>(number >> (width - 1)));
        const Bits ascending = static_cast<Bits>(number ^ (negative | sign));
        return is_nan(bits) ? nan : static_cast<Bits>(ascending ^ flip);
    }
};

template <class Bits>
LOOKBACK_HD constexpr integer_order<Bits> make_integer_order(bool is_signed, bool descending) {
    const Bits sign = is_signed ? static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1)) : Bits{0};
    return {static_cast<Bits>(sign ^ (descending ? static_cast<Bits>(~Bits{0}) : Bits{0}))};
}

template <class Bits>
LOOKBACK_HD constexpr float_order<Bits> make_float_order(bool descending, bool nan_first) {
    constexpr Bits all = static_cast<Bits>(~Bits{0});
    return {descending ? all : Bits{0}, nan_first ? Bits{0} : all};
}

/// Either order, chosen at run time: one kernel a width serves all key types. The branch is
/// uniform.
template <class Bits>
struct key_order {
    using bits_type = Bits;
    Bits mask;      ///< integers: xor-ed; floats: what descending flips
    Bits nan;       ///< floats: what every NaN maps to
    bool floating;  ///< IEEE 754 of the width; not for 8 bits

    LOOKBACK_HD constexpr Bits operator()(Bits bits) const {
        if constexpr (sizeof(Bits) > 1) {
            if (floating) return float_order<Bits>{mask, nan}(bits);
        }
        return integer_order<Bits>{mask}(bits);
    }
    /// The same for keys that are not ambiguous, with less work: one-to-one.
    LOOKBACK_HD constexpr Bits of_unambiguous(Bits bits) const {
        if constexpr (sizeof(Bits) > 1) {
            using floats = float_order<Bits>;
            if (floating) {
                const Bits negative =
                    static_cast<Bits>(Bits{0} - static_cast<Bits>(bits >> (floats::width - 1)));
                return static_cast<Bits>(bits ^ (negative | floats::sign) ^ mask);
            }
        }
        return static_cast<Bits>(bits ^ mask);
    }
    /// The key that of_unambiguous() maps to `ordered`.
    LOOKBACK_HD constexpr Bits restored(Bits ordered) const {
        const Bits bits = static_cast<Bits>(ordered ^ mask);
        if constexpr (sizeof(Bits) > 1) {
            // Without a branch: in a sort's last kernel each of some thousand keys comes here.
            using floats = float_order<Bits>;
            const Bits positive =
                static_cast<Bits>(Bits{0} - static_cast<Bits>(bits >> (floats::width - 1)));
            const Bits all = static_cast<Bits>(Bits{0} - static_cast<Bits>(floating));
            return static_cast<Bits>(
                bits ^ (static_cast<Bits>(static_cast<Bits>(~positive) | floats::sign) & all));
        } else {
            return bits;
        }
    }
    /// Whether other bits map to the same number: -0.0 meets +0.0, NaNs meet each other. Between
    /// keys that all lack this, equal means identical, and no sort needs to be stable.
    LOOKBACK_HD constexpr bool is_ambiguous(Bits bits) const {
        if constexpr (sizeof(Bits) > 1) {
            using floats = float_order<Bits>;
            if (floating) return bits == floats::sign || floats::is_nan(bits);
        }
        return false;
    }
};

template <class Bits>
constexpr key_order<Bits> make_key_order(key_kind kind, bool descending, bool nan_first) {
    if (kind == key_kind::floating) {
        const auto order = make_float_order<Bits>(descending, nan_first);
        return {order.flip, order.nan, true};
    }
    const auto order = make_integer_order<Bits>(kind == key_kind::signed_integer, descending);
    return {order.mask, Bits{0}, false};
}

/// The digit of `bits` bits (1..16) that starts at bit `shift` of an ordered key.
template <class Bits>
LOOKBACK_HD constexpr std::uint32_t digit(Bits ordered, int shift, int bits) {
    return static_cast<std::uint32_t>(ordered >> shift) & ((std::uint32_t{1} << bits) - 1);
}

}  // namespace lookback::core
