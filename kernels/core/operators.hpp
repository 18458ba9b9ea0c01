// Level L0 (core): the associative operators of scan and reduce, op(earlier, later), with their
// identities. Invariant: every operator is associative on its types bit for bit, except
// floating-point plus and multiplies, whose order the algorithms document.
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <limits>
#include <type_traits>

namespace lookback::core {

/// Integer arithmetic in the unsigned type of the same width: wraps instead of being undefined.
/// Widened to at least 32 bits, or uint16 * uint16 would promote to a signed int and overflow.
template <class T>
struct wrapping {
    using narrow = std::make_unsigned_t<T>;
    using type = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, narrow>;
};

struct plus {
    template <class T>
    LOOKBACK_HD constexpr T operator()(T earlier, T later) const {
        if constexpr (std::is_integral_v<T>) {
            using wide = typename wrapping<T>::type;
            return static_cast<T>(static_cast<wide>(earlier) + static_cast<wide>(later));
        } else {
            return earlier + later;
        }
    }
    /// -0.0 for floats: adding it changes no value, not even the sign of a zero.
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        if constexpr (std::is_floating_point_v<T>) return T(-0.0);
        return T(0);
    }
};

struct multiplies {
    template <class T>
    LOOKBACK_HD constexpr T operator()(T earlier, T later) const {
        if constexpr (std::is_integral_v<T>) {
            using wide = typename wrapping<T>::type;
            return static_cast<T>(static_cast<wide>(earlier) * static_cast<wide>(later));
        } else {
            return earlier * later;
        }
    }
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        return T(1);
    }
};

/// std::isnan() is no constexpr function in C++20.
template <class T>
LOOKBACK_HD constexpr bool is_nan(T value) {
    return value != value;  // NOLINT(misc-redundant-expression): only a NaN differs from itself
}

/// The least value; the first of equal ones, and the first NaN where there is one.
struct minimum {
    template <class T>
    LOOKBACK_HD constexpr T operator()(T earlier, T later) const {
        if constexpr (std::is_floating_point_v<T>) {
            if (is_nan(earlier)) return earlier;
            return later < earlier || is_nan(later) ? later : earlier;
        } else {
            return later < earlier ? later : earlier;
        }
    }
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
        return std::numeric_limits<T>::max();
    }
};

/// The greatest value; the first of equal ones, and the first NaN where there is one.
struct maximum {
    template <class T>
    LOOKBACK_HD constexpr T operator()(T earlier, T later) const {
        if constexpr (std::is_floating_point_v<T>) {
            if (is_nan(earlier)) return earlier;
            return earlier < later || is_nan(later) ? later : earlier;
        } else {
            return earlier < later ? later : earlier;
        }
    }
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
        return std::numeric_limits<T>::lowest();
    }
};

struct bit_and {
    template <class T>
    LOOKBACK_HD constexpr T operator()(T earlier, T later) const {
        return static_cast<T>(earlier & later);
    }
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        return static_cast<T>(~T(0));
    }
};

struct bit_or {
    template <class T>
    LOOKBACK_HD constexpr T operator()(T earlier, T later) const {
        return static_cast<T>(earlier | later);
    }
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        return T(0);
    }
};

struct bit_xor {
    template <class T>
    LOOKBACK_HD constexpr T operator()(T earlier, T later) const {
        return static_cast<T>(earlier ^ later);
    }
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        return T(0);
    }
};

/// Which operators exist for which types: bit operators are for integers only.
template <class Op, class T>
inline constexpr bool operator_applies =
    std::is_integral_v<T> ||
    !(std::is_same_v<Op, bit_and> || std::is_same_v<Op, bit_or> || std::is_same_v<Op, bit_xor>);

}  // namespace lookback::core
