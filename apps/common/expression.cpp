// The grammar of expressions, in Boost.Spirit X3; the only file that includes it.
#include "common/expression.hpp"

#include <lookback/error.hpp>

#include <iterator>
#include <utility>

#include <boost/spirit/home/x3.hpp>
#include <fmt/format.h>

namespace lookback::apps {
namespace {

namespace x3 = boost::spirit::x3;
using iterator = std::string::const_iterator;

// Each level of parentheses costs the parser's functions of every precedence.
constexpr std::size_t most_parentheses = 100;
constexpr std::size_t most_bytes = std::size_t{64} << 10;

struct text_begin {};  // names the begin of the text in the parser's context

template <class Context>
std::size_t column_of(const Context& context, iterator at) {
    return static_cast<std::size_t>(at - x3::get<text_begin>(context)) + 1;
}

// Of what an action has just matched, `length` letters without a blank behind them.
template <class Context>
std::size_t column_behind(const Context& context, std::ptrdiff_t length) {
    return column_of(context, x3::_where(context).begin() - length);
}

// What the grammar does with what it has matched.

constexpr auto add_part = [](auto& context) {
    auto& whole = x3::_val(context);
    if (whole.parts.empty() && whole.operators.empty() && whole.text.empty()) {
        whole.column = x3::_attr(context).column;
    }
    whole.parts.push_back(std::move(x3::_attr(context)));
};
constexpr auto add_operator = [](auto& context) {
    x3::_val(context).operators.push_back(x3::_attr(context));
};
constexpr auto add_not = [](auto& context) {
    x3::_val(context).operators.push_back(expression_operator::logical_not);
};
template <std::ptrdiff_t Length>
constexpr auto begin_unary = [](auto& context) {
    auto& whole = x3::_val(context);
    if (whole.operators.empty()) whole.column = column_behind(context, Length);
};
constexpr auto add_unary = [](auto& context) {
    begin_unary<1>(context);
    x3::_val(context).operators.push_back(x3::_attr(context));
};
constexpr auto add_word_not = [](auto& context) {
    begin_unary<3>(context);
    x3::_val(context).operators.push_back(expression_operator::logical_not);
};
constexpr auto set_whole = [](auto& context) { x3::_val(context) = std::move(x3::_attr(context)); };

template <expression_kind Kind>
constexpr auto become = [](auto& context) { x3::_val(context).kind = Kind; };

// A rule that matched one part alone is that part.
template <expression_kind Kind>
constexpr auto close = [](auto& context) {
    auto& whole = x3::_val(context);
    const bool one_part = whole.parts.size() == 1;
    const bool unchanged = one_part && (Kind == expression_kind::all ||
                                        Kind == expression_kind::any || whole.operators.empty());
    if (unchanged) {
        expression only = std::move(whole.parts.front());
        whole = std::move(only);
    } else if (Kind != expression_kind::compare) {
        whole.kind = Kind;
    }
};

template <expression_kind Kind>
constexpr auto leaf = [](auto& context) {
    const auto& matched = x3::_attr(context);
    x3::_val(context) = expression{Kind,
                                   column_of(context, matched.begin()),
                                   std::string(matched.begin(), matched.end()),
                                   {},
                                   {}};
};
template <expression_kind Kind>
constexpr auto unquote = [](auto& context) {
    const auto& matched = x3::_attr(context);
    expression result{Kind, column_of(context, matched.begin()), {}, {}, {}};
    const char quote = *matched.begin();
    for (auto at = std::next(matched.begin()); at != std::prev(matched.end()); ++at) {
        result.text.push_back(*at);
        if (*at == quote) ++at;  // a quote inside stands twice
    }
    x3::_val(context) = std::move(result);
};
constexpr auto refuse_function = [](auto& context) {
    const auto& matched = x3::_attr(context);
    refuse_expression(
        column_of(context, matched.begin()),
        fmt::format("there is no function '{}'; there are isnan, isfinite, abs, min, max, floor "
                    "and sqrt",
                    std::string(matched.begin(), matched.end())));
};
constexpr auto refuse_second_comparison = [](auto& context) {
    refuse_expression(column_of(context, x3::_attr(context).begin()),
                      "comparisons do not follow each other; join them: a < b and b < c");
};
constexpr auto refuse_assignment = [](auto& context) {
    refuse_expression(column_of(context, x3::_attr(context).begin()),
                      "'=' compares nothing; write '=='");
};

struct operator_table : x3::symbols<expression_operator> {
    operator_table(std::initializer_list<std::pair<const char*, expression_operator>> all) {
        for (const auto& [text, meaning] : all) add(text, meaning);
    }
};

using op = expression_operator;
const operator_table comparisons{{"<", op::less},           {"<=", op::less_equal},
                                 {"==", op::equal},         {"!=", op::not_equal},
                                 {">=", op::greater_equal}, {">", op::greater}};
const operator_table or_signs{{"|", op::bit_or}};
const operator_table xor_signs{{"^", op::bit_xor}};
const operator_table and_signs{{"&", op::bit_and}};
const operator_table shift_signs{{"<<", op::shift_left}, {">>", op::shift_right}};
const operator_table sum_signs{{"+", op::add}, {"-", op::subtract}};
const operator_table product_signs{{"*", op::multiply}, {"/", op::divide}, {"%", op::remainder}};
const operator_table unary_signs{{"-", op::negate}, {"+", op::plus}, {"!", op::logical_not}};

const auto high = x3::char_('\x80', '\xff');  // letters of UTF-8
const auto name_start = x3::ascii::alpha | x3::char_('_') | high;
const auto name_letter = x3::ascii::alnum | x3::char_('_') | high;
const auto word_end = !(name_letter | x3::char_('.'));

auto word(const char* text) {
    return x3::lexeme[x3::lit(text) >> !(name_letter | x3::char_(".["))];
}

const auto keyword = word("and") | word("or") | word("not") | word("in") | word("between") |
                     word("row") | word("true") | word("false");
const auto name = x3::raw[x3::lexeme[name_start >> *name_letter >> *('.' >> +name_letter) >>
                                     *('[' >> +x3::ascii::digit >> ']')]] -
                  keyword;
const auto function_name =
    x3::raw[x3::lexeme[(x3::lit("isnan") | "isfinite" | "abs" | "min" | "max" | "floor" | "sqrt") >>
                       word_end]];
const auto exponent = x3::char_("eE") >> -x3::char_("+-") >> +x3::ascii::digit;
const auto number = x3::raw[x3::lexeme[((x3::lit("0x") | "0X") >> +x3::ascii::xdigit |
                                        (+x3::ascii::digit >> -('.' >> *x3::ascii::digit) |
                                         '.' >> +x3::ascii::digit) >>
                                            -exponent) >>
                                       word_end]];
// Its quotes and doubled quotes are taken away by `unquote`.
const auto quoted_text =
    x3::raw[x3::lexeme[('\'' >> *((x3::char_ - '\'') | (x3::lit('\'') >> '\''))) > x3::lit('\'')]];
const auto quoted_name =
    x3::raw[x3::lexeme[('"' >> *((x3::char_ - '"') | (x3::lit('"') >> '"'))) > x3::lit('"')]];

// Their names are what an error says was expected.
const x3::rule<struct and_rule> and_word{"'and'"};
const x3::rule<struct any_rule, expression> any_of{"a condition"};
const x3::rule<struct all_rule, expression> all_of{"a condition"};
const x3::rule<struct negation_rule, expression> negation{"a condition"};
const x3::rule<struct comparison_rule, expression> comparison_of{"a value"};
const x3::rule<struct bit_or_rule, expression> bit_or_of{"a value"};
const x3::rule<struct bit_xor_rule, expression> bit_xor_of{"a value"};
const x3::rule<struct bit_and_rule, expression> bit_and_of{"a value"};
const x3::rule<struct shift_rule, expression> shift_of{"a value"};
const x3::rule<struct sum_rule, expression> sum_of{"a value"};
const x3::rule<struct product_rule, expression> product_of{"a value"};
const x3::rule<struct unary_rule, expression> unary_of{"a value"};
const x3::rule<struct primary_rule, expression> primary{"a value"};
const x3::rule<struct call_rule, expression> call{"a function"};

using kind = expression_kind;

const auto any_of_def =
    all_of[add_part] >>
    *((x3::lit("||") | word("or")) > all_of[add_part]) >> x3::eps[close<kind::any>];
const auto all_of_def =
    negation[add_part] >>
    *((x3::lit("&&") | word("and")) > negation[add_part]) >> x3::eps[close<kind::all>];
const auto negation_def =
    *word("not")[add_word_not] >> comparison_of[add_part] >> x3::eps[close<kind::unary>];
const auto list = '(' > bit_or_of[add_part] >> *(',' > bit_or_of[add_part]) > ')';
const auto range = bit_or_of[add_part] > and_word > bit_or_of[add_part];
const auto comparison_of_def =
    bit_or_of[add_part] >>
    -((comparisons[add_operator] > bit_or_of[add_part] > x3::eps[become<kind::compare>] >
       -x3::raw[comparisons][refuse_second_comparison]) |
      ((word("not") >> word("in"))[add_not] > x3::eps[become<kind::one_of>] > list) |
      (word("in") > x3::eps[become<kind::one_of>] > list) |
      ((word("not") >> word("between"))[add_not] > x3::eps[become<kind::between>] > range) |
      (word("between") > x3::eps[become<kind::between>] > range) |
      x3::raw[x3::lit('=')][refuse_assignment]) >>
    x3::eps[close<kind::compare>];
const auto bit_or_of_def = bit_xor_of[add_part] >>
                           *((or_signs >> !x3::lit('|'))[add_operator] > bit_xor_of[add_part]) >>
                           x3::eps[close<kind::chain>];
const auto bit_xor_of_def =
    bit_and_of[add_part] >>
    *(xor_signs[add_operator] > bit_and_of[add_part]) >> x3::eps[close<kind::chain>];
const auto bit_and_of_def = shift_of[add_part] >>
                            *((and_signs >> !x3::lit('&'))[add_operator] > shift_of[add_part]) >>
                            x3::eps[close<kind::chain>];
const auto shift_of_def =
    sum_of[add_part] >>
    *(shift_signs[add_operator] > sum_of[add_part]) >> x3::eps[close<kind::chain>];
const auto sum_of_def =
    product_of[add_part] >>
    *(sum_signs[add_operator] > product_of[add_part]) >> x3::eps[close<kind::chain>];
const auto product_of_def =
    unary_of[add_part] >>
    *(product_signs[add_operator] > unary_of[add_part]) >> x3::eps[close<kind::chain>];
const auto unary_of_def =
    *(unary_signs - "!=")[add_unary] >> primary[add_part] >> x3::eps[close<kind::unary>];
const auto call_def = function_name[leaf<kind::call>] >>
                      ('(' > any_of[add_part] >> *(',' > any_of[add_part]) > ')');
const auto primary_def = number[leaf<kind::number>] | quoted_text[unquote<kind::text>] |
                         quoted_name[unquote<kind::column>] |
                         x3::raw[word("row")][leaf<kind::row>] |
                         x3::raw[word("true") | word("false")][leaf<kind::truth>] |
                         call[set_whole] | x3::raw[name >> &x3::lit('(')][refuse_function] |
                         name[leaf<kind::column>] | ('(' > any_of[set_whole] > ')');

const auto and_word_def = word("and");

BOOST_SPIRIT_DEFINE(and_word, any_of, all_of, negation, comparison_of, bit_or_of, bit_xor_of,
                    bit_and_of, shift_of, sum_of, product_of, unary_of, primary, call)

// The parser calls itself for each level: a limit keeps it within its stack.
void require_shallow(const std::string& text) {
    if (text.size() > most_bytes) {
        refuse_expression(most_bytes, "an expression of more than 64 KiB");
    }
    std::size_t depth = 0;
    char quote = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (quote != 0) {
            if (letter == quote) quote = 0;
        } else if (letter == '\'' || letter == '"') {
            quote = letter;
        } else if (letter == '(') {
            if (++depth > most_parentheses) {
                refuse_expression(at + 1, fmt::format("more than {} parentheses inside each other",
                                                      most_parentheses));
            }
        } else if (letter == ')' && depth > 0) {
            --depth;
        }
    }
}

std::string found_at(const std::string& text, iterator at) {
    if (at == text.end()) return "the end";
    iterator end = at;
    while (end != text.end() && end - at < 16 && *end != ' ') ++end;
    return fmt::format("'{}'", std::string(at, end));
}

[[noreturn]] void refuse_at(const std::string& text, iterator at, const std::string& what) {
    while (at != text.end() && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) ++at;
    refuse_expression(static_cast<std::size_t>(at - text.begin()) + 1,
                      fmt::format("{}, found {}", what, found_at(text, at)));
}

}  // namespace

void refuse_expression(std::size_t column, const std::string& what) {
    throw error(error_kind::invalid_argument,
                fmt::format("the expression, at column {}: {}", column, what));
}

expression parse_expression(const std::string& text) {
    require_shallow(text);
    expression result;
    iterator at = text.begin();
    try {
        const auto grammar = x3::with<text_begin>(text.begin())[any_of];
        const bool matched = x3::phrase_parse(at, text.end(), grammar, x3::ascii::space, result);
        if (!matched) refuse_at(text, at, "expected a condition");
    } catch (const x3::expectation_failure<iterator>& failure) {
        std::string wanted = failure.which();
        // Of what has a name of its own the parser knows no better than its type.
        if (wanted.find(' ') == std::string::npos && wanted.size() > 5) wanted = "a value";
        refuse_at(text, failure.where(), "expected " + wanted);
    }
    if (at != text.end()) refuse_at(text, at, "expected an operator or the end");
    return result;
}

}  // namespace lookback::apps
