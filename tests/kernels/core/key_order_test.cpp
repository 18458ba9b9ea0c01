// The order of keys: every 16-bit pattern against the comparison that it stands for.
#include <lookback/kernels/core/key_order.hpp>

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace lookback::core {
namespace {

float widen_half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const int mantissa = bits & 1023;
    const float sign = bits >> 15 != 0 ? -1.0F : 1.0F;
    if (exponent == 31) {
        return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN()
                             : sign * std::numeric_limits<float>::infinity();
    }
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
    return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

// -1, 0, 1 as a float comparison that puts NaN last or first in either direction.
int compare_halves(std::uint16_t a, std::uint16_t b, bool descending, bool nan_first) {
    const float x = widen_half(a);
    const float y = widen_half(b);
    if (std::isnan(x) || std::isnan(y)) {
        const int order = static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
        return nan_first ? -order : order;
    }
    const int order = static_cast<int>(x > y) - static_cast<int>(x < y);
    return descending ? -order : order;
}

TEST(KeyOrder, EveryHalfAgainstLandmarks) {
    const std::uint16_t landmarks[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x3c00, 0xbc00, 0x7bff,
                                       0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfe00, 0x7fff, 0xffff};
    for (const bool descending : {false, true}) {
        for (const bool nan_first : {false, true}) {
            const auto order = make_float_order<std::uint16_t>(descending, nan_first);
            for (int bits = 0; bits < 65536; ++bits) {
                for (const std::uint16_t mark : landmarks) {
                    const auto key = static_cast<std::uint16_t>(bits);
                    const int got = static_cast<int>(order(key) > order(mark)) -
                                    static_cast<int>(order(key) < order(mark));
                    ASSERT_EQ(got, compare_halves(key, mark, descending, nan_first))
                        << bits << " against " << mark;
                }
            }
        }
    }
}

TEST(KeyOrder, FloatsAndDoubles) {
    const float inf = std::numeric_limits<float>::infinity();
    const float ascending[] = {-inf, -3.5F, -1e-45F, 0.0F, 1e-45F, 2.0F, inf};
    const auto up = make_float_order<std::uint32_t>(false, false);
    const auto down = make_float_order<std::uint64_t>(true, false);
    for (std::size_t i = 1; i < std::size(ascending); ++i) {
        EXPECT_LT(up(std::bit_cast<std::uint32_t>(ascending[i - 1])),
                  up(std::bit_cast<std::uint32_t>(ascending[i])));
        EXPECT_GT(down(std::bit_cast<std::uint64_t>(double{ascending[i - 1]})),
                  down(std::bit_cast<std::uint64_t>(double{ascending[i]})));
    }
    EXPECT_EQ(up(0x80000000U), up(0U));
    EXPECT_EQ(up(0x7fc00000U), up(0xffc00001U));
    EXPECT_GT(up(0xffc00001U), up(std::bit_cast<std::uint32_t>(inf)));
    EXPECT_GT(down(0x7ff8000000000000U), down(std::bit_cast<std::uint64_t>(-double{inf})));
}

TEST(KeyOrder, EveryByteSignedAndUnsignedBothWays) {
    for (const bool descending : {false, true}) {
        const auto as_signed = make_integer_order<std::uint8_t>(true, descending);
        const auto as_unsigned = make_integer_order<std::uint8_t>(false, descending);
        for (int a = 0; a < 256; ++a) {
            for (int b = 0; b < 256; ++b) {
                const auto x = static_cast<std::uint8_t>(a);
                const auto y = static_cast<std::uint8_t>(b);
                ASSERT_EQ(as_unsigned(x) < as_unsigned(y), descending ? x > y : x < y);
                const auto i = static_cast<std::int8_t>(x);
                const auto j = static_cast<std::int8_t>(y);
                ASSERT_EQ(as_signed(x) < as_signed(y), descending ? i > j : i < j);
            }
        }
    }
}

TEST(KeyOrder, DigitsReassembleTheKey) {
    const std::uint64_t key = 0xfedcba9876543210U;
    for (const int bits : {1, 7, 8, 11, 16}) {
        std::uint64_t whole = 0;
        for (int shift = 0; shift < 64; shift += bits) {
            whole |= static_cast<std::uint64_t>(digit(key, shift, bits)) << shift;
        }
        EXPECT_EQ(whole, key) << bits << " bits a digit";
    }
}

// Every 16-bit key that no other key equals comes back from its number.
TEST(KeyOrder, UnambiguousKeysAreRestored) {
    int wrong = 0;
    for (const auto kind :
         {key_kind::unsigned_integer, key_kind::signed_integer, key_kind::floating}) {
        for (const bool descending : {false, true}) {
            const auto order = make_key_order<std::uint16_t>(kind, descending, false);
            for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
                const auto key = static_cast<std::uint16_t>(bits);
                if (order.is_ambiguous(key)) continue;
                wrong += static_cast<int>(order.of_unambiguous(key) != order(key));
                wrong += static_cast<int>(order.restored(order(key)) != key);
            }
        }
    }
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace lookback::core
