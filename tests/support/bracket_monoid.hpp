// Tests: the bicyclic monoid, an associative operator in which order matters: a string of brackets
// reduced to `closing` unmatched ")" followed by `opening` unmatched "(".
#pragma once

#include <lookback/kernels/core/platform.hpp>

namespace lookback::test {

template <class Count>
struct brackets {
    Count closing;
    Count opening;
    friend bool operator==(const brackets&, const brackets&) = default;
};

struct join_brackets {
    template <class Count>
    LOOKBACK_HD constexpr brackets<Count> operator()(brackets<Count> earlier,
                                                     brackets<Count> later) const {
        const Count matched = earlier.opening < later.closing ? earlier.opening : later.closing;
        return {static_cast<Count>(earlier.closing + later.closing - matched),
                static_cast<Count>(earlier.opening + later.opening - matched)};
    }
};

}  // namespace lookback::test
