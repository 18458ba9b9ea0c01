// Level L0 (core): values of a segmented array: the combination since the last head, and whether
// there was one. Invariant: joining is associative wherever op is, so a segmented scan is a scan of
// these pairs. Source: Schwartz (1980); Blelloch (1990), 1.5.
#pragma once

#include <lookback/kernels/core/platform.hpp>

namespace lookback::core {

template <class T>
struct headed {
    T value;             ///< the combination from the last head on, or of all where there is none
    std::uint32_t head;  ///< not 0: a segment begins here, what is earlier is left out
};

/// op on pairs: what precedes a head is dropped.
template <class Op>
struct join_headed {
    static constexpr bool commutes = false;
    Op op;

    template <class T>
    LOOKBACK_HD constexpr headed<T> operator()(const headed<T>& earlier,
                                               const headed<T>& later) const {
        return {later.head != 0 ? later.value : op(earlier.value, later.value),
                earlier.head | later.head};
    }
    template <class Pair>
    requires requires { Op::template identity<decltype(Pair::value)>(); }
    LOOKBACK_HD static constexpr Pair identity() {
        return {Op::template identity<decltype(Pair::value)>(), 0};
    }
};

}  // namespace lookback::core
