// Test support: operators and data that show mistakes of order: a scan that swaps, skips or repeats
// a block gives another result.
#pragma once

#include <lookback/kernels/core/platform.hpp>

namespace lookback::test {

/// Brackets: `closing` unmatched ones, then `opening` ones. Not commutative; 8 bytes.
struct brackets {
    std::uint32_t closing;
    std::uint32_t opening;
    friend bool operator==(const brackets&, const brackets&) = default;
};

/// The bicyclic monoid, without a word about its identity.
struct bicyclic {
    static constexpr bool commutes = false;
    LOOKBACK_HD brackets operator()(brackets a, brackets b) const {
        const std::uint32_t met = a.opening < b.closing ? a.opening : b.closing;
        return {a.closing + b.closing - met, b.opening + a.opening - met};
    }
};

/// x -> factor * x + offset modulo 2^64. Not commutative; 16 bytes.
struct affine {
    std::uint64_t factor;
    std::uint64_t offset;
    friend bool operator==(const affine&, const affine&) = default;
};

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

LOOKBACK_HD inline std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// Item i of the test data.
template <class T>
LOOKBACK_HD T test_item(std::uint64_t i) {
    return static_cast<T>(scramble(i));
}
template <>
LOOKBACK_HD inline brackets test_item<brackets>(std::uint64_t i) {
    const std::uint64_t bits = scramble(i);
    return {static_cast<std::uint32_t>(bits & 7), static_cast<std::uint32_t>(bits >> 32 & 7)};
}
template <>
LOOKBACK_HD inline affine test_item<affine>(std::uint64_t i) {
    return {scramble(2 * i) | 1, scramble(2 * i + 1)};
}
template <>
LOOKBACK_HD inline float test_item<float>(std::uint64_t i) {
    return static_cast<float>(scramble(i) >> 40) * 0x1p-12F - 0x1p11F;
}
template <>
LOOKBACK_HD inline double test_item<double>(std::uint64_t i) {
    return static_cast<double>(scramble(i) >> 11) * 0x1p-20 - 0x1p32;
}

}  // namespace lookback::test
