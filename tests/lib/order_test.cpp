// Questions about the order of rows, against comparisons written with std::.
#include <lookback/error.hpp>
#include <lookback/order.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace lookback {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct table {
    std::vector<std::int32_t> whole;
    std::vector<float> real;
    std::vector<char> text;  // 9 bytes a row: two pieces
    static constexpr std::size_t text_bytes = 9;

    std::size_t rows() const { return whole.size(); }
    std::vector<sort_key> keys() const {
        return {{whole.data(), data_type::i32, 0, {}},
                {real.data(), data_type::f32, 0, {.descending = true, .nan_first = false}},
                {text.data(), data_type::u8, text_bytes, {}}};
    }
    std::string text_of(std::size_t row) const {
        return {text.data() + row * text_bytes, text_bytes};
    }
    // The order of two rows by plain comparisons.
    int compare(std::size_t a, std::size_t b) const {
        if (whole[a] != whole[b]) return whole[a] < whole[b] ? -1 : 1;
        const bool nan_a = std::isnan(real[a]);
        const bool nan_b = std::isnan(real[b]);
        if (nan_a != nan_b) return nan_a ? 1 : -1;
        if (!nan_a && real[a] != real[b]) return real[a] > real[b] ? -1 : 1;
        const int order = text_of(a).compare(text_of(b));
        return order < 0 ? -1 : static_cast<int>(order > 0);
    }
};

table random_table(std::size_t rows, unsigned seed) {
    std::mt19937 random(seed);
    const float reals[] = {-1.5F, -0.0F, 0.0F, 2.0F, nan, -nan};
    table made;
    for (std::size_t row = 0; row < rows; ++row) {
        made.whole.push_back(static_cast<std::int32_t>(random() % 3) - 1);
        made.real.push_back(reals[random() % 6]);
        for (std::size_t byte = 0; byte < table::text_bytes; ++byte) {
            const bool last = byte + 1 == table::text_bytes;
            made.text.push_back(last && random() % 2 != 0 ? '\xff' : 'a');
        }
    }
    return made;
}

TEST(Order, FirstDisorderIsTheFirst) {
    const context context({.backend = backend::cpu, .threads = 4});
    std::vector<std::uint16_t> values(10'000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i / 2);
    const std::vector<sort_key> keys{{values.data(), data_type::u16, 0, {}}};
    EXPECT_EQ(first_disorder(context, keys, values.size()), values.size());
    EXPECT_EQ(first_disorder(context, keys, values.size(), true), 1U);
    for (const std::size_t at : {9'999U, 8'193U, 1'025U, 1'024U, 3U}) {
        values[at] = 0;
        EXPECT_EQ(first_disorder(context, keys, values.size()), at);
    }
    EXPECT_EQ(first_disorder(context, keys, 0), 0U);
    EXPECT_EQ(first_disorder(context, keys, 1), 1U);
}

TEST(Order, FirstDisorderByEveryKey) {
    const context context({.backend = backend::cpu, .threads = 2});
    for (unsigned seed = 0; seed < 300; ++seed) {
        const table rows = random_table(6, seed);
        for (const bool strict : {false, true}) {
            std::size_t expected = rows.rows();
            for (std::size_t row = rows.rows() - 1; row >= 1; --row) {
                if (rows.compare(row - 1, row) >= (strict ? 0 : 1)) expected = row;
            }
            EXPECT_EQ(first_disorder(context, rows.keys(), rows.rows(), strict), expected)
                << "seed " << seed;
        }
    }
}

TEST(Order, HeadsOfRowsAndOfAnIndex) {
    const context context({.backend = backend::cpu, .threads = 3});
    const table rows = random_table(5'000, 7);
    std::vector<std::uint8_t> heads(rows.rows(), 9);
    mark_heads(context, rows.keys(), heads);
    std::vector<std::int64_t> index(2 * rows.rows());
    std::mt19937 random(1);
    for (auto& row : index) row = static_cast<std::int64_t>(random() % rows.rows());
    std::vector<std::uint8_t> picked(index.size(), 9);
    mark_heads(context, rows.keys(), rows.rows(), std::span<const std::int64_t>(index), picked);
    for (std::size_t i = 0; i < index.size(); ++i) {
        if (i < heads.size()) {
            ASSERT_EQ(heads[i], i == 0 || rows.compare(i - 1, i) != 0) << i;
        }
        const bool differs = i == 0 || rows.compare(static_cast<std::size_t>(index[i - 1]),
                                                    static_cast<std::size_t>(index[i])) != 0;
        ASSERT_EQ(picked[i], differs) << i;
    }
}

TEST(Order, RowsOfTwoTables) {
    const table left = random_table(40, 1);
    const table right = random_table(40, 2);
    table both = left;
    both.whole.insert(both.whole.end(), right.whole.begin(), right.whole.end());
    both.real.insert(both.real.end(), right.real.begin(), right.real.end());
    both.text.insert(both.text.end(), right.text.begin(), right.text.end());
    const row_comparison compare(left.keys(), right.keys());
    for (std::size_t a = 0; a < 40; ++a) {
        for (std::size_t b = 0; b < 40; ++b) {
            const int order = compare(a, b);
            EXPECT_EQ((order > 0) - (order < 0), both.compare(a, 40 + b)) << a << " against " << b;
        }
    }
}

template <class Call>
void expect_refused(const Call& call, const char* part) {
    try {
        call();
        FAIL() << "accepted; expected a refusal with: " << part;
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
        EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
    }
}

TEST(Order, WhatIsWrongIsNamed) {
    const context context({.backend = backend::cpu});
    const table rows = random_table(4, 1);
    std::vector<std::uint8_t> heads(4);
    expect_refused([&] { first_disorder(context, {}, 4); }, "no key");
    const std::vector<sort_key> missing{{nullptr, data_type::u8, 0, {}}};
    expect_refused([&] { mark_heads(context, missing, heads); }, "key 0 has no data");
    const std::vector<std::int64_t> index{0, 3, -1, 4};
    expect_refused(
        [&] { mark_heads(context, rows.keys(), 4, std::span<const std::int64_t>(index), heads); },
        "index 2 is -1, outside [0, 4)");
    auto other = rows.keys();
    other[1].order.descending = false;
    expect_refused([&] { row_comparison(rows.keys(), other); }, "key 1 differs");
    const auto* odd = reinterpret_cast<const std::byte*>(rows.whole.data()) + 1;
    const std::vector<sort_key> crooked{{odd, data_type::i32, 0, {}}};
    expect_refused([&] { first_disorder(context, crooked, 2); }, "not aligned");
}

}  // namespace
}  // namespace lookback
