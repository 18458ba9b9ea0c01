// sort_pairs: every key type, value size, order and shape against std::stable_sort.
#include "support/generators.hpp"
#include "support/item_types.hpp"
#include "support/red_zone.hpp"
#include "support/reference.hpp"
#include "support/sizes.hpp"

#include <lookback/radix_sort.hpp>

#include <array>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace lookback::test {
namespace {

constexpr sort_order all_orders[] = {{false, false}, {false, true}, {true, false}, {true, true}};

// A value whose low bytes tell its position, so that wrong moves and lost stability show.
template <std::size_t Bytes>
struct value {
    std::array<std::uint8_t, Bytes> bytes;
    static value of(std::size_t position) {
        value made{};
        std::memcpy(made.bytes.data(), &position, Bytes < 8 ? Bytes : 8);
        if (Bytes == 16) made.bytes[15] = static_cast<std::uint8_t>(position * 7);
        return made;
    }
};

template <class Key, std::size_t Bytes>
void expect_sorted_pairs(const context& context, const std::vector<Key>& input,
                         const sort_options& options) {
    const std::span<const Key> before(input);
    std::vector<value<Bytes>> input_values(input.size());
    for (std::size_t i = 0; i < input.size(); ++i) input_values[i] = value<Bytes>::of(i);
    const red_zone<Key> keys(before, 0);
    const red_zone<value<Bytes>> values(std::span<const value<Bytes>>(input_values), 0);
    sort_pairs(context, keys.span(), values.data(), Bytes, options);
    const auto order = stable_order(before, options);
    const auto right_keys = taken_by(before, order);
    const auto right_values = taken_by(std::span<const value<Bytes>>(input_values), order);
    ASSERT_EQ(first_difference<Key>(keys.span(), right_keys), input.size());
    ASSERT_EQ(first_difference<value<Bytes>>(values.span(), right_values), input.size());
    ASSERT_TRUE(keys.intact() && values.intact());
}

template <class Key>
class RadixSortPairs : public testing::Test {};

TYPED_TEST_SUITE(RadixSortPairs, key_types);

TYPED_TEST(RadixSortPairs, EveryShapeAndOrder) {
    const context context({.backend = backend::cpu, .threads = 3});
    std::size_t turn = sizeof(TypeParam);
    for (const distribution shape : all_distributions) {
        SCOPED_TRACE(std::string(name_of(shape)));
        for (const sort_order& order : all_orders) {
            expect_sorted_pairs<TypeParam, 4>(context, generate<TypeParam>(shape, 1000),
                                              {.order = order});
        }
        expect_sorted_pairs<TypeParam, 4>(context, generate<TypeParam>(shape, 70'000),
                                          {.order = all_orders[turn++ % 4]});
    }
}

TYPED_TEST(RadixSortPairs, EveryValueSize) {
    const context context({.backend = backend::cpu, .threads = 2});
    for (const std::size_t n : {std::size_t{257}, std::size_t{66'000}}) {
        const auto keys = generate<TypeParam>(distribution::zipf, n);
        expect_sorted_pairs<TypeParam, 1>(context, keys, {});
        expect_sorted_pairs<TypeParam, 2>(context, keys, {});
        expect_sorted_pairs<TypeParam, 4>(context, keys, {});
        expect_sorted_pairs<TypeParam, 8>(context, keys, {});
        expect_sorted_pairs<TypeParam, 16>(context, keys, {});
    }
}

TYPED_TEST(RadixSortPairs, EverySmallSize) {
    const context context({.backend = backend::cpu, .threads = 1});
    for (std::size_t n = 0; n <= 300; n += sanitized ? 13 : 1) {
        SCOPED_TRACE(n);
        expect_sorted_pairs<TypeParam, 8>(context,
                                          generate<TypeParam>(distribution::specials, n, n), {});
    }
}

}  // namespace
}  // namespace lookback::test
