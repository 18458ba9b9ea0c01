// Operators: associative bit for bit, neutral identities, the rules for zeros and NaNs, wrapping.
#include <lookback/kernels/core/operators.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::core {
namespace {

template <class T>
bool same_bits(T a, T b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
std::vector<T> values() {
    using limits = std::numeric_limits<T>;
    std::vector<T> list = {T(0), T(1), T(2), T(3), T(7), limits::max(), limits::lowest()};
    if constexpr (std::is_floating_point_v<T>) {
        for (const T special : {T(-0.0), T(-1.5), limits::infinity(), -limits::infinity(),
                                limits::quiet_NaN(), -limits::quiet_NaN(), limits::denorm_min()}) {
            list.push_back(special);
        }
    } else {
        for (const int v : {-1, -2, 85, -86, 100}) list.push_back(static_cast<T>(v));
    }
    return list;
}

template <class Op, class T>
void expect_associative(Op op) {
    for (const T a : values<T>()) {
        for (const T b : values<T>()) {
            for (const T c : values<T>()) {
                ASSERT_TRUE(same_bits(op(op(a, b), c), op(a, op(b, c))))
                    << +a << ", " << +b << ", " << +c;
            }
        }
    }
}

template <class Op, class T>
void expect_identity(Op op) {
    for (const T a : values<T>()) {
        EXPECT_TRUE(same_bits(op(Op::template identity<T>(), a), a)) << +a;
        EXPECT_TRUE(same_bits(op(a, Op::template identity<T>()), a)) << +a;
    }
}

template <class T>
class IntegerOperators : public testing::Test {};
using integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerOperators, integers);

TYPED_TEST(IntegerOperators, AssociativeWithIdentities) {
    const auto check = [](auto op) {
        expect_associative<decltype(op), TypeParam>(op);
        expect_identity<decltype(op), TypeParam>(op);
        EXPECT_TRUE((operator_applies<decltype(op), TypeParam>));
    };
    check(plus());
    check(multiplies());
    check(minimum());
    check(maximum());
    check(bit_and());
    check(bit_or());
    check(bit_xor());
}

TYPED_TEST(IntegerOperators, SumsAndProductsWrap) {
    using T = TypeParam;
    using U = std::make_unsigned_t<T>;
    constexpr T most = std::numeric_limits<T>::max();
    EXPECT_EQ(plus()(most, T(1)), static_cast<T>(static_cast<U>(most) + U(1)));
    EXPECT_EQ(multiplies()(most, most),
              static_cast<T>(static_cast<U>(std::uint64_t{static_cast<U>(most)} *
                                            std::uint64_t{static_cast<U>(most)})));
}

template <class T>
class RealOperators : public testing::Test {};
using reals = testing::Types<float, double>;
TYPED_TEST_SUITE(RealOperators, reals);

TYPED_TEST(RealOperators, IdentitiesChangeNoBit) {
    expect_identity<plus, TypeParam>(plus());
    expect_identity<multiplies, TypeParam>(multiplies());
    expect_identity<minimum, TypeParam>(minimum());
    expect_identity<maximum, TypeParam>(maximum());
}

TYPED_TEST(RealOperators, MinimumAndMaximumAreAssociativeBitForBit) {
    expect_associative<minimum, TypeParam>(minimum());
    expect_associative<maximum, TypeParam>(maximum());
}

TYPED_TEST(RealOperators, TheFirstOfEqualZerosAndTheFirstNanWin) {
    using T = TypeParam;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const T other_nan = -nan;
    const auto check = [&](auto op) {
        EXPECT_TRUE(same_bits(op(T(-0.0), T(0.0)), T(-0.0)));
        EXPECT_TRUE(same_bits(op(T(0.0), T(-0.0)), T(0.0)));
        EXPECT_TRUE(same_bits(op(nan, T(1)), nan));
        EXPECT_TRUE(same_bits(op(T(1), nan), nan));
        EXPECT_TRUE(same_bits(op(nan, other_nan), nan));
        EXPECT_TRUE(same_bits(op(other_nan, nan), other_nan));
    };
    check(minimum());
    check(maximum());
}

TYPED_TEST(RealOperators, BitOperatorsDoNotApply) {
    EXPECT_FALSE((operator_applies<bit_and, TypeParam>));
    EXPECT_FALSE((operator_applies<bit_or, TypeParam>));
    EXPECT_FALSE((operator_applies<bit_xor, TypeParam>));
    EXPECT_TRUE((operator_applies<plus, TypeParam>));
}

}  // namespace
}  // namespace lookback::core
