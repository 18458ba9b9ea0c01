// Expressions: what parses, where errors point, and that no text whatever does harm.
#include "common/expression.hpp"

#include "common/program.hpp"
#include "common/program_run.hpp"
#include "support/generators.hpp"
#include "support/sizes.hpp"

#include <lookback/error.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::apps {
namespace {

const std::vector<std::uint64_t> wide{0, 1, 5, std::uint64_t{1} << 63,
                                      std::numeric_limits<std::uint64_t>::max()};
const std::vector<std::int64_t> narrow{-1, 1, 5, std::numeric_limits<std::int64_t>::max(), -1};
const std::vector<float> reals{0.1F, -0.0F, std::numeric_limits<float>::quiet_NaN(),
                               std::numeric_limits<float>::infinity(), 16777216.0F};

program_input find(const std::string& name, std::size_t column) {
    if (name == "u") return {name, false, false, data_type::u64};
    if (name == "i") return {name, false, false, data_type::i64};
    if (name == "f" || name == "odd name") return {name, false, false, data_type::f32};
    if (name == "s") return {name, true, false, data_type::u8};
    refuse_expression(column, "there is no column '" + name + "'");
}

// The rows for which the text holds, as digits; or the fault; or the error.
std::string evaluate(const std::string& text, std::size_t rows = 5) {
    try {
        const program code = compile(parse_expression(text), find);
        std::vector<input_rows> inputs;
        for (const program_input& input : code.inputs) {
            input_rows in;
            in.stride = in.text_bytes = input.name == "u" || input.name == "i" ? 8 : 4;
            in.data = input.name == "u"   ? reinterpret_cast<const std::byte*>(wide.data())
                      : input.name == "i" ? reinterpret_cast<const std::byte*>(narrow.data())
                                          : reinterpret_cast<const std::byte*>(reals.data());
            if (input.is_text) {
                in.data = reinterpret_cast<const std::byte*>("a\0\0\0bc\0\0abcd\0\0\0\0it's");
            }
            inputs.push_back(in);
        }
        std::uint64_t word = 0;
        if (const auto fault = program_run(code).mark(inputs, 0, rows, &word)) {
            return "row " + std::to_string(fault->row) + ": " + fault->what;
        }
        std::string flags;
        for (std::size_t i = 0; i < rows; ++i) flags += static_cast<char>('0' + (word >> i & 1U));
        return flags;
    } catch (const error& failure) {
        return failure.what();
    }
}

TEST(Expression, IntegersAreExactOverTheirWholeRange) {
    EXPECT_EQ(evaluate("u > 9223372036854775807"), "00011");
    EXPECT_EQ(evaluate("u == 18446744073709551615"), "00001");
    EXPECT_EQ(evaluate("u > -1"), "11111");
    EXPECT_EQ(evaluate("u < 18446744073709551616"), "11111");
    EXPECT_EQ(evaluate("u == i"), "01100");
    EXPECT_EQ(evaluate("i < u"), "10011");
    EXPECT_EQ(evaluate("u + 1 > u"), "11111");
    EXPECT_EQ(evaluate("i == 9223372036854775807.0"), "00000");  // 2^63 as a real number
    EXPECT_EQ(evaluate("u == 9223372036854775808.0"), "00010");
    EXPECT_EQ(evaluate("i * u * i * u > 0"), "row 3: a result that does not fit 128 bits");
    EXPECT_EQ(evaluate("u < 10 && i * u * i * u > 0"), "01100");
}

TEST(Expression, RealsFollowTheirType) {
    EXPECT_EQ(evaluate("f == 0.1"), "10000");
    EXPECT_EQ(evaluate("f == 16777217"), "00001");
    EXPECT_EQ(evaluate("f < 1e39"), "11001");
    EXPECT_EQ(evaluate("f == 0"), "01000");
    EXPECT_EQ(evaluate("f != f"), "00100");
    EXPECT_EQ(evaluate("f <= f or isnan(f)"), "11111");
    EXPECT_EQ(evaluate("f between 0 and 1"), "11000");
    EXPECT_EQ(evaluate("isfinite(f)"), "11001");
    EXPECT_EQ(evaluate("\"odd name\" > 1"), "00011");
    EXPECT_EQ(evaluate("i / 2 == 2.5"), "00100");
    EXPECT_EQ(evaluate("floor(i / 2) == 2"), "00100");
    EXPECT_EQ(evaluate("sqrt(u) == 1"), "01000");
}

TEST(Expression, TextComparesByBytesWithoutItsPadding) {
    EXPECT_EQ(evaluate("s == 'a'"), "10000");
    EXPECT_EQ(evaluate("s < 'b'"), "10110");
    EXPECT_EQ(evaluate("s in ('bc', 'it''s')"), "01001");
    EXPECT_EQ(evaluate("s == ''"), "00010");
}

TEST(Expression, PrecedenceIsThatOfPython) {
    EXPECT_EQ(evaluate("u & 5 == 5"), "00101");
    EXPECT_EQ(evaluate("1 + 2 * 3 == 7 and not u == 1"), "10111");
    EXPECT_EQ(evaluate("u == 1 or u == 5 and i == 1"), "01000");
    EXPECT_EQ(evaluate("- -u == 1"), "01000");
    EXPECT_EQ(evaluate("7 - 2 - 1 == 4"), "11111");
    EXPECT_EQ(evaluate("1 << 2 + 1 == 8"), "11111");
    EXPECT_EQ(evaluate("!(u == 1)"), "10111");
    EXPECT_EQ(evaluate("u not in (1, 5) && u not between 0 and 2"), "00011");
    EXPECT_EQ(evaluate("row % 2 == 0"), "10101");
    EXPECT_EQ(evaluate("-7 % 3 == 2"), "11111");
    EXPECT_EQ(evaluate("0x10 == 16 && true"), "11111");
}

TEST(Expression, DivisionByZeroIsAFaultWhereItMatters) {
    EXPECT_EQ(evaluate("i % u == 0"), "row 0: a remainder of a division by zero");
    EXPECT_EQ(evaluate("u != 0 && i % u == 0"), "01100");
    EXPECT_EQ(evaluate("u == 0 || i % u == 0"), "11100");
    EXPECT_EQ(evaluate("1 << i == 2"), "row 0: a shift by a negative number, or beyond 128 bits");
    EXPECT_EQ(evaluate("i % 0 == 0", 0), "");
}

struct wrong_text {
    std::string text;
    std::size_t column;
    std::string said;
};

TEST(Expression, ErrorsPointAtTheirColumn) {
    const wrong_text all[] = {
        {"", 1, "expected"},
        {"u >", 4, "found the end"},
        {"u > 5 &&", 9, "expected"},
        {"u > 5 foo", 7, "found 'foo'"},
        {"(u > 5", 7, "expected ')'"},
        {"u > 5)", 6, "found ')'"},
        {"  nothere > 5", 3, "no column 'nothere'"},
        {"u > 5 and zz", 11, "no column 'zz'"},
        {"1 < u < 5", 7, "do not follow each other"},
        {"u = 5", 3, "'=='"},
        {"foo(u)", 1, "no function 'foo'"},
        {"min(u)", 1, "two values"},
        {"abs(u, u) > 1", 1, "one value"},
        {"s > 5", 5, "text is compared"},
        {"u + s > 1", 5, "not text"},
        {"f", 1, "no condition"},
        {"s && u", 1, "no condition"},
        {"f & 1", 1, "takes integers"},
        {"u in ()", 7, "expected"},
        {"u between 1 or 2", 13, "expected 'and'"},
        {"s == 'abc", 10, "found the end"},
        {"u == 5abc", 6, "found '5abc'"},
        {"5 % 0 == u", 1, "division by zero"},
        {"u > 999999999999999999999999999999999999999999", 5, "128 bits"},
        {"u # 5", 3, "found '#'"},
        {std::string(101, '(') + "u" + std::string(101, ')'), 101, "parentheses"},
    };
    for (const wrong_text& wrong : all) {
        const std::string said = evaluate(wrong.text);
        EXPECT_NE(said.find("at column " + std::to_string(wrong.column) + ":"), std::string::npos)
            << wrong.text << "\n"
            << said;
        EXPECT_NE(said.find(wrong.said), std::string::npos) << wrong.text << "\n" << said;
    }
    EXPECT_NE(evaluate(std::string(70'000, ' ')).find("64 KiB"), std::string::npos);
}

TEST(Expression, LongAndDeepTextsStayWithinTheStack) {
    const auto repeated = [](const std::string& piece, std::size_t times) {
        std::string text;
        for (std::size_t i = 0; i < times; ++i) text += piece;
        return text;
    };
    EXPECT_EQ(evaluate("u + " + repeated("0 + ", 5000) + "0 == 1"), "01000");
    EXPECT_EQ(evaluate(repeated("not ", 9000) + "u == 1"), "01000");
    EXPECT_EQ(evaluate(repeated("!", 9000) + "(u == 1)"), "01000");
    EXPECT_EQ(evaluate(repeated("-", 3000) + "u == 1"), "01000");
    EXPECT_EQ(evaluate(repeated("u == 7 || ", 3000) + "u == 1"), "01000");
    EXPECT_EQ(evaluate("u in (" + repeated("7, ", 5000) + "1)"), "01000");
    EXPECT_EQ(evaluate(repeated("(", 100) + "u == 1" + repeated(")", 100)), "01000");
    for (const char* piece : {"(", "((u", "min(", "-(", "u in (", "not (", "'", "\"", "u["}) {
        EXPECT_NE(evaluate(repeated(piece, 4000)).find("at column"), std::string::npos) << piece;
    }
}

// Whatever the text: an answer or an error of ours, never a crash (this runs under sanitizers).
TEST(Expression, MutatedTextsDoNoHarm) {
    const std::string seeds[] = {"u > 5 && f < 0.1 or s == 'it''s'",
                                 "i % 7 == -3 and not (u & 0xff) << 2 >= 18446744073709551615",
                                 "min(u, i, 3) between -1e3 and abs(f) || row in (1, 2, 3.5)",
                                 "\"odd name\" != sqrt(floor(f)) && !isnan(f) && isfinite(f / 0)"};
    const std::string letters =
        "()!&|<>=+-*/%^'\",.[] \t\n0123456789eExfuisandornotbetwrq\x01\x7f\x80\xc3\xa9\xff";
    test::random_bits random(5);
    std::size_t answers = 0;
    std::size_t errors = 0;
    for (int round = 0; round < (test::sanitized ? 4000 : 40'000); ++round) {
        std::string text = seeds[random() % 4];
        for (std::uint64_t edits = random() % 4 + 1; edits > 0; --edits) {
            const std::size_t at = random() % (text.size() + 1);
            const char letter = letters[random() % letters.size()];
            switch (random() % 4) {
                case 0:
                    text.insert(at, 1, letter);
                    break;
                case 1:
                    if (at < text.size()) text[at] = letter;
                    break;
                case 2:
                    text.erase(at, random() % 6);
                    break;
                default:
                    text.insert(at, seeds[random() % 4].substr(random() % 20, random() % 20));
            }
        }
        const std::string said = evaluate(text);
        const bool answered = said.find_first_not_of("01") == std::string::npos;
        (answered ? answers : errors) += 1;
        if (!answered) {
            ASSERT_TRUE(said.find("at column") != std::string::npos || said.rfind("row ", 0) == 0)
                << text << "\n"
                << said;
        }
    }
    EXPECT_GT(answers, 100U);
    EXPECT_GT(errors, 100U);
}

}  // namespace
}  // namespace lookback::apps
