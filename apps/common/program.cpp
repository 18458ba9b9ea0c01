// Registers, constants, columns; the other parts of the compiler are in program_arithmetic.cpp and
// program_conditions.cpp.
#include "common/program.hpp"

#include "common/program_compiler.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps {
namespace {

using core::checked_add;
using core::checked_multiply;

operand literal(const expression& tree) {
    std::string_view text = tree.text;
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (!hexadecimal && text.find_first_of(".eE") != std::string_view::npos) {
        double value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        const bool tiny = value == 0;
        // Out of range leaves the value alone: it is 0 or infinite, as the exponent's sign
        // says.
        if (tiny) value = std::strtod(tree.text.c_str(), nullptr);
        return constant_real(value, tree.column);
    }
    if (hexadecimal) text.remove_prefix(2);
    int128 value = 0;
    for (const char letter : text) {
        const int digit = letter <= '9' ? letter - '0' : (letter | 32) - 'a' + 10;
        bool over = false;
        bool more = false;
        value = checked_multiply<int128>(value, hexadecimal ? 16 : 10, over);
        value = checked_add<int128>(value, digit, more);
        if (over || more) refuse_expression(tree.column, "a number of more than 128 bits");
    }
    return constant_whole(value, tree.column);
}

}  // namespace

void program_compiler::compile_whole(const expression& tree) {
    out_.result = in_register(truth_of(compile(tree)), value_type::boolean);
}

int program_compiler::new_register(value_type type) {
    out_.registers.push_back(type);
    return static_cast<int>(out_.registers.size()) - 1;
}

int program_compiler::emit(instruction made, value_type result) {
    if (made.column == 0) made.column = column_;
    made.target = new_register(result);
    out_.code.push_back(made);
    return made.target;
}

int program_compiler::guard() {
    int outer = -1;
    for (scope& each : scopes_) {
        if (each.all < 0) {
            int own = each.condition;
            if (each.negated) {
                own = emit({.op = opcode::logical_not, .type = value_type::boolean, .left = own},
                           value_type::boolean);
            }
            each.all = outer < 0 ? own
                                 : emit({.op = opcode::logical_and,
                                         .type = value_type::boolean,
                                         .left = outer,
                                         .right = own},
                                        value_type::boolean);
        }
        outer = each.all;
    }
    return outer;
}

int program_compiler::in_register(const operand& part, value_type type) {
    if (part.constant) {
        program_constant value = part.value;
        if (part.numeric()) value.real = static_cast<double>(value.whole);
        out_.constants.push_back(std::move(value));
        return emit({.op = opcode::constant, .type = type, .input = out_.constants.size() - 1},
                    type);
    }
    if (part.type == type) return part.place;
    return emit({.op = opcode::convert, .type = type, .from = part.type, .left = part.place}, type);
}

operand program_compiler::truth_of(operand part) {
    switch (part.is) {
        case nature::truth:
            return part;
        case nature::whole: {
            if (part.constant) return constant_truth(part.value.whole != 0, part.column);
            const value_type type = part.type;
            const int zero = in_register(constant_whole(0, part.column), type);
            const int place =
                emit({.op = opcode::not_equal, .type = type, .left = part.place, .right = zero},
                     value_type::boolean);
            return in_place(nature::truth, value_type::boolean, place, part.column);
        }
        default:
            refuse_expression(part.column,
                              fmt::format("{} is no condition; compare it", name_of(part)));
    }
}

operand program_compiler::compile(const expression& tree) {
    // Of what is emitted for it alone, not for its parts.
    const std::size_t outer = std::exchange(column_, tree.column);
    operand result = compile_part(tree);
    column_ = outer;
    return result;
}

operand program_compiler::compile_part(const expression& tree) {
    switch (tree.kind) {
        case expression_kind::number:
            return literal(tree);
        case expression_kind::text: {
            operand result{.is = nature::text, .column = tree.column, .constant = true};
            result.type = value_type::text;
            result.value.text = tree.text;
            return result;
        }
        case expression_kind::column:
            return input(tree);
        case expression_kind::row: {
            operand result = in_place(
                nature::whole, value_type::i64,
                emit({.op = opcode::row, .type = value_type::i64}, value_type::i64), tree.column);
            result.range = {0, std::numeric_limits<std::int64_t>::max(), false};
            return result;
        }
        case expression_kind::truth:
            return constant_truth(tree.text == "true", tree.column);
        case expression_kind::unary:
            return unary(tree);
        case expression_kind::chain:
            return chain(tree);
        case expression_kind::compare:
            return compare(tree.operators.front(), compile(tree.parts[0]), compile(tree.parts[1]));
        case expression_kind::all:
        case expression_kind::any:
            return joined(tree);
        case expression_kind::one_of:
            return one_of(tree);
        case expression_kind::between:
            return between(tree);
        case expression_kind::call:
            break;
    }
    return call(tree);
}

operand program_compiler::input(const expression& tree) {
    const auto known =
        std::find_if(out_.inputs.begin(), out_.inputs.end(),
                     [&](const program_input& each) { return each.name == tree.text; });
    const auto at = static_cast<std::size_t>(known - out_.inputs.begin());
    if (known == out_.inputs.end()) {
        out_.inputs.push_back(find_(tree.text, tree.column));
        out_.inputs.back().name = tree.text;
    }
    const program_input& found = out_.inputs[at];
    const auto load = [&](nature is, value_type type) {
        operand result = in_place(
            is, type, emit({.op = opcode::load, .type = type, .input = at}, type), tree.column);
        result.input = at;
        return result;
    };
    if (found.is_text) return load(nature::text, value_type::text);
    if (found.is_truth) return load(nature::truth, value_type::boolean);
    switch (found.number) {
        case data_type::f16: {
            operand result = load(nature::real, value_type::f32);
            result.half = true;
            return result;
        }
        case data_type::f32:
            return load(nature::real, value_type::f32);
        case data_type::f64:
            return load(nature::real, value_type::f64);
        default:
            break;
    }
    const auto bits = static_cast<int>(8 * size_of(found.number));
    const bool is_signed = found.number <= data_type::i64;
    integer_range range{0, (int128{1} << bits) - 1, false};
    if (is_signed) range = {-(int128{1} << (bits - 1)), (int128{1} << (bits - 1)) - 1, false};
    operand result = load(nature::whole, holding(range));
    result.range = range;
    return result;
}

program compile(const expression& tree, const find_input& find) {
    program result;
    program_compiler(find, result).compile_whole(tree);
    return result;
}

}  // namespace lookback::apps
