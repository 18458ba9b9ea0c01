// The range tests of expressions against the CPU's program, value by value: every stored type,
// every comparison, constants around the ends of every type; how conditions join; which expressions
// have range tests at all. What expressions mean is tested by apps_expression_fuzz.
#include "common/expression.hpp"
#include "common/program_run.hpp"
#include "common/program_steps.hpp"
#include "support/row_steps.hpp"

#include <lookback/kernels/core/find_terms.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace lookback::apps {
namespace {

using core::stored_type;

/// Columns of one type, values as bits, all of the same length.
struct bits_table {
    stored_type type;
    std::vector<std::vector<std::uint64_t>> columns;  ///< a, b, c ...

    std::size_t bytes() const { return static_cast<std::size_t>(core::bytes_of(type)); }
    std::size_t rows() const { return columns.front().size(); }

    program compiled(const std::string& text) const {
        return compile(parse_expression(text), [&](const std::string& name, std::size_t) {
            const bool truth = type == stored_type::truth;
            return program_input{name, false, truth,
                                 truth ? data_type::u8 : static_cast<data_type>(type)};
        });
    }
};

std::optional<core::row_terms> terms_of(const program& code) {
    const program_steps steps = to_steps(code);
    return core::find_terms(steps.steps, steps.constants, steps.columns, steps.result);
}

/// Row by row the same as the CPU's; returns the number of tests, -1 where there are none to be
/// had.
int check(const std::string& text, const bits_table& table) {
    const program code = table.compiled(text);
    const auto terms = terms_of(code);
    if (!terms) return -1;
    std::vector<std::vector<std::byte>> data;
    std::vector<input_rows> inputs;
    for (const program_input& input : code.inputs) {
        const auto& column = table.columns[static_cast<std::size_t>(input.name[0] - 'a')];
        data.emplace_back(table.rows() * table.bytes());
        for (std::size_t i = 0; i < table.rows(); ++i) {
            std::memcpy(data.back().data() + i * table.bytes(), &column[i], table.bytes());
        }
        inputs.push_back({data.back().data(), table.bytes()});
    }
    std::vector<std::uint64_t> words((table.rows() + 63) / 64);
    EXPECT_FALSE(program_run(code).mark(inputs, 0, table.rows(), words.data()));
    const program_steps steps = to_steps(code);
    for (std::size_t i = 0; i < table.rows(); ++i) {
        const bool expected = (words[i / 64] >> i % 64 & 1) != 0;
        const bool got = core::holds(*terms, steps.columns.data(), [&](std::uint32_t column) {
            const std::string& name = code.inputs[column].name;
            return table.columns[static_cast<std::size_t>(name[0] - 'a')][i];
        });
        if (got == expected) continue;
        ADD_FAILURE() << text << ": row " << i << ", bits " << std::hex << table.columns[0][i];
        break;
    }
    return static_cast<int>(terms->count);
}

// The ends of every type, what lies beyond them, and what no type holds.
const std::vector<std::string> constants{"0",
                                         "1",
                                         "-1",
                                         "0.0",
                                         "-0.0",
                                         "0.5",
                                         "-0.5",
                                         "0.1",
                                         "127",
                                         "128",
                                         "-128",
                                         "-129",
                                         "127.5",
                                         "255",
                                         "256",
                                         "-0.25",
                                         "32767",
                                         "32768",
                                         "-32768.5",
                                         "65535",
                                         "65504.0",
                                         "65519.9",
                                         "65520.0",
                                         "7e4",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483648",
                                         "-2147483649",
                                         "2147483647.5",
                                         "4294967295",
                                         "4294967296",
                                         "16777217",
                                         "16777217.0",
                                         "9007199254740993",
                                         "9007199254740993.0",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "-9223372036854775808",
                                         "-9223372036854775809",
                                         "9223372036854775807.0",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "18446744073709551615.0",
                                         "1e39",
                                         "-1e39",
                                         "3.4028235e38",
                                         "1e-45",
                                         "1.4e-46",
                                         "5e-324",
                                         "3e-8",
                                         "1e308",
                                         "1e400",
                                         "-1e400",
                                         "(0.0/0.0)",
                                         "170141183460469231731687303715884105727",
                                         "1e300"};

template <class T>
std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
}

/// Values of a type around everything above, and others; all of those of less than 16 bits.
bits_table values_of(stored_type type) {
    std::vector<std::uint64_t> values;
    const int width = 8 * core::bytes_of(type);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - width);
    const auto around = [&](std::uint64_t bits) {
        for (std::uint64_t d = 0; d < 5; ++d) values.push_back((bits + d - 2) & all);
    };
    if (width == 8) {
        for (std::uint64_t bits = 0; bits < 256; ++bits) values.push_back(bits);
    }
    for (int bit = 0; bit < width; ++bit) around(std::uint64_t{1} << bit);
    around(0);
    around(all >> 1);
    for (const std::string& text : constants) {
        const double real = text.starts_with("(") ? NAN : std::strtod(text.c_str(), nullptr);
        if (type == stored_type::f64) around(bits_of(real));
        if (type == stored_type::f32) around(bits_of(static_cast<float>(real)));
        if (type == stored_type::f16) around(bits_of(static_cast<float>(real)) >> 13);
    }
    for (const std::uint64_t real : {0x7c00U, 0xfc00U, 0x7bffU, 0x7e00U, 0xfe00U, 0x8001U}) {
        if (type == stored_type::f16) around(real);
    }
    for (const std::uint64_t real : {0x7f800000U, 0xff800000U, 0x7fc00000U, 0xffc00000U}) {
        if (type == stored_type::f32) around(real);
    }
    for (const std::uint64_t real : {0x7ff0ULL << 48, 0xfff0ULL << 48, 0xfff8ULL << 48}) {
        if (type == stored_type::f64) around(real);
    }
    std::mt19937_64 random(static_cast<unsigned>(type));
    for (int i = 0; i < 200; ++i) values.push_back(random() & all);
    return {type, {values}};
}

class Terms : public testing::TestWithParam<stored_type> {};

TEST_P(Terms, ComparisonsWithConstants) {
    const bits_table table = values_of(GetParam());
    for (const std::string& constant : constants) {
        for (const char* const op : {"<", "<=", "==", "!=", ">=", ">"}) {
            for (const bool swapped : {false, true}) {
                const std::string text =
                    swapped ? constant + " " + op + " a" : std::string("a ") + op + " " + constant;
                EXPECT_NE(check(text, table), -1) << text;
                const int opposite = check("!(" + text + ")", table);
                EXPECT_TRUE(opposite == 0 || opposite == 1) << text;
            }
        }
        EXPECT_EQ(check("a == " + constant + " || a != " + constant, table), 0) << constant;
    }
}

TEST_P(Terms, OtherQuestionsAboutOneColumn) {
    const bits_table table = values_of(GetParam());
    const bool whole = !core::is_real_type(GetParam());
    for (const char* const text :
         {"isnan(a)", "isfinite(a)", "!isfinite(a)", "isnan(a) || a > 1", "a between 0 and 1",
          "a not between -1 and 0.5", "a in (0, 1, 2, 3)", "a not in (1, 3, 5)",
          "a in (2, 0, 3, 1, 4) || a == 7"}) {
        EXPECT_NE(check(text, table), -1) << text;
    }
    EXPECT_EQ(check("a > 0 && a <= 1", table), 1);
    if (!whole) return;
    EXPECT_LE(check("a in (5, 2, 3, 4, 9, 8, 7, 6)", table), 1);
    EXPECT_LE(check("a", table), 1);
    EXPECT_LE(check("!a", table), 1);
    EXPECT_LE(check("a and a != 3", table), 2);
}

INSTANTIATE_TEST_SUITE_P(Types, Terms,
                         testing::Values(stored_type::i8, stored_type::i16, stored_type::i32,
                                         stored_type::i64, stored_type::u8, stored_type::u16,
                                         stored_type::u32, stored_type::u64, stored_type::f16,
                                         stored_type::f32, stored_type::f64, stored_type::truth));

TEST(TermsOf, EveryHalf) {
    bits_table table{stored_type::f16, {{}}};
    for (std::uint64_t bits = 0; bits < 65536; ++bits) table.columns[0].push_back(bits);
    for (const char* const text : {"a < 0.1", "a == 0", "a != 0", "a >= 65504", "a > 6e-8",
                                   "!(a <= -0.0)", "isfinite(a)", "a < 1e6"}) {
        EXPECT_EQ(check(text, table), 1) << text;
    }
}

/// Random conditions over six columns, of so many comparisons.
class joined_conditions {
public:
    explicit joined_conditions(unsigned seed) : random_(seed) {}

    std::string of(int comparisons) {
        if (comparisons == 1) {
            static const char* const ops[] = {"<", "<=", "==", "!=", ">=", ">"};
            const std::string one = std::string(1, static_cast<char>('a' + below(6))) + " " +
                                    ops[below(6)] + " " + std::to_string(below(8));
            return below(4) == 0 ? "!(" + one + ")" : one;
        }
        const int left = 1 + below(comparisons - 1);
        static const char* const joins[] = {" && ", " || ", ") & (", ") | (", ") ^ ("};
        const std::string all = "(" + of(left) + joins[below(5)] + of(comparisons - left) + ")";
        const bool bits = all.find(") & (") != std::string::npos ||
                          all.find(") | (") != std::string::npos ||
                          all.find(") ^ (") != std::string::npos;
        const std::string text = bits ? "(" + all + ")" : all;
        return below(5) == 0 ? "!" + text : text;
    }
    int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

private:
    std::mt19937 random_;
};

TEST(TermsOf, ConditionsJoinedInAnyWay) {
    std::mt19937 random(7);
    bits_table table{stored_type::i32, {}};
    for (int c = 0; c < 6; ++c) {
        table.columns.emplace_back();
        for (int i = 0; i < 300; ++i) table.columns.back().push_back(random() % 8);
    }
    joined_conditions make(3);
    int most = 0;
    for (int i = 0; i < 800; ++i) {
        const int comparisons = 1 + i % 6;
        const std::string text = make.of(comparisons);
        const int count = check(text, table);
        EXPECT_GE(count, 0) << text;
        EXPECT_LE(count, comparisons) << text;
        most = std::max(most, count);
    }
    EXPECT_EQ(most, 6);
}

TEST(TermsOf, RangesThatMeetAreOne) {
    bits_table table{stored_type::i32, {}};
    for (int c = 0; c < 3; ++c) {
        table.columns.emplace_back();
        for (std::uint64_t i = 0; i < 2000; ++i) table.columns.back().push_back(i * 7 % 2000);
    }
    EXPECT_EQ(check("a > 3 && a < 9 && b >= 100 && b != 777 && c < 900", table), 4);
    EXPECT_EQ(check("a < 5 || a == 5 || a == 6", table), 1);
    EXPECT_EQ(check("a < 5 && a > 7", table), 0);
    EXPECT_EQ(check("(a < 5 && b < 5) || (a < 5 && c > 9)", table), 3);
    EXPECT_EQ(check("a < 5 && b in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)", table), 2);
    EXPECT_EQ(check("true", table), 0);
    EXPECT_EQ(check("a < 3000000000", table), 0);
}

TEST(TermsOf, WhatIsMoreThanRangesKeepsItsSteps) {
    const bits_table table{stored_type::i32, std::vector<std::vector<std::uint64_t>>(7, {1})};
    for (const char* const text :
         {"a < b", "a + 1 < 5", "a % 2 == 0", "row < 5", "-a < 3", "(a < 3) == (b < 3)",
          "a < 1 && b < 1 && c < 1 && d < 1 && e < 1 && f < 1 && g < 1", "abs(a) < 3",
          "a in (1, 3, 5, 7, 9, 11, 13)", "a < 3 && b % (a + 1) == 0", "sqrt(a) < 2"}) {
        EXPECT_EQ(check(text, table), -1) << text;
    }
    EXPECT_EQ(check("a < 1 && b < 1 && c < 1 && d < 1 && e < 1 && f < 1", table), 6);
}

TEST(TermsOf, LongAndDeepExpressionsEnd) {
    const bits_table table{stored_type::i32, {{1, 2, 500, 4000, 9}, {3, 1, 0, 7, 2}}};
    std::string consecutive = "a in (0";
    std::string scattered = "a in (0";
    std::string deep = "a < 3";
    std::string differing = "(a < 3)";
    for (int i = 1; i < 300; ++i) {
        consecutive += ", " + std::to_string(i);
        scattered += ", " + std::to_string(2 * i);
    }
    for (int i = 0; i < 80; ++i) {
        const std::string number = std::to_string(i);
        deep = "(" + deep + (i % 2 == 0 ? " && b < " : " || b > ") + number + ")";
        differing += " ^ (b < " + number + ")";
    }
    EXPECT_EQ(check(consecutive + ")", table), 1);
    EXPECT_EQ(check(scattered + ")", table), -1);
    EXPECT_EQ(check("!(" + deep + ")", table), -1);
    EXPECT_EQ(check("!(" + differing + ")", table), -1);
}

/// Whether the range tests of `column, converted, less than a constant` are refused.
bool refused(stored_type stored, value_type from, value_type to, core::row_constant constant) {
    using kind = core::row_operand::kind;
    core::row_step convert = test::step(opcode::convert, to, test::at(kind::column), {}, 0);
    convert.from = from;
    const core::row_step steps[] = {
        convert, test::step(opcode::less, to, test::at(kind::values), test::at(kind::constant), 0)};
    const stored_type columns[] = {stored};
    const core::row_constant values[] = {constant};
    return !core::find_terms(steps, values, columns, test::at(kind::marks));
}

TEST(TermsOf, ConversionsThatLoseTheOrderKeepTheirSteps) {
    const core::row_constant five = test::constant(std::uint64_t{5});
    EXPECT_TRUE(refused(stored_type::i8, value_type::i64, value_type::u64, five));
    EXPECT_TRUE(refused(stored_type::u64, value_type::i64, value_type::u64, five));
    EXPECT_TRUE(refused(stored_type::f64, value_type::f64, value_type::i64, five));
    EXPECT_FALSE(refused(stored_type::u8, value_type::i64, value_type::u64, five));
    EXPECT_FALSE(refused(stored_type::i8, value_type::i64, value_type::f64, test::constant(5.0)));
}

}  // namespace
}  // namespace lookback::apps
