// Benchmark support: operators that a user might bring, one of 8 bytes and one of 16.
#pragma once

#include <lookback/kernels/core/platform.hpp>

namespace lookback::bench {

/// Brackets: `closing` unmatched ones, then `opening` ones.
struct brackets {
    std::uint32_t closing;
    std::uint32_t opening;
    friend bool operator==(const brackets&, const brackets&) = default;
};

/// The bicyclic monoid: what is left of two texts when their brackets meet. Does not commute.
struct bicyclic {
    static constexpr bool commutes = false;
    LOOKBACK_HD brackets operator()(brackets a, brackets b) const {
        const std::uint32_t met = a.opening < b.closing ? a.opening : b.closing;
        return {a.closing + b.closing - met, b.opening + a.opening - met};
    }
};

/// x -> factor * x + offset.
struct affine {
    std::uint64_t factor;
    std::uint64_t offset;
    friend bool operator==(const affine&, const affine&) = default;
};

/// First a, then b: linear recurrences, random number streams. Does not commute.
struct compose {
    static constexpr bool commutes = false;
    LOOKBACK_HD affine operator()(affine a, affine b) const {
        return {a.factor * b.factor, b.factor * a.offset + b.offset};
    }
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        return {1, 0};
    }
};

}  // namespace lookback::bench
