// Apps: an expression over the columns of a table, as its text says it: a tree.
// Invariant: the tree is at most as deep as its parentheses, whatever the length of the text.
// Operators, from the loosest: or ||, and &&, not, comparisons with in and between, |, ^, &, << >>,
// + -, * / %, unary - + !. Text stands in single quotes, odd names in double quotes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lookback::apps {

enum class expression_kind : std::uint8_t {
    number,   ///< text is the literal
    text,     ///< text is what it stands for
    column,   ///< text is the name
    row,      ///< the row's own number, from 0
    truth,    ///< text is "true" or "false"
    unary,    ///< operators from the outermost to the innermost, one part
    chain,    ///< parts with operators between them, of one precedence, from the left
    compare,  ///< two parts and one operator
    all,      ///< parts joined by and
    any,      ///< parts joined by or
    one_of,   ///< the first part is one of the others; operators: {not} or none
    between,  ///< the first part is in [second, third]; operators: {not} or none
    call,     ///< text is the function
};

enum class expression_operator : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,
    remainder,
    bit_and,
    bit_or,
    bit_xor,
    shift_left,
    shift_right,
    less,
    less_equal,
    equal,
    not_equal,
    greater_equal,
    greater,
    logical_not,
    negate,
    plus
};

struct expression {
    expression_kind kind = expression_kind::number;
    std::size_t column = 1;  ///< where it begins in the text, from 1
    std::string text = {};
    std::vector<expression_operator> operators = {};
    std::vector<expression> parts = {};
};

/// Throws error{invalid_argument} that tells the column in the text and what was expected there.
expression parse_expression(const std::string& text);

/// Throws error{invalid_argument} about one place of an expression.
[[noreturn]] void refuse_expression(std::size_t column, const std::string& what);

}  // namespace lookback::apps
