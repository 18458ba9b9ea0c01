// Arithmetic in types that hold every result, on integers exactly.
#include "common/program_compiler.hpp"

#include <cmath>

namespace lookback::apps {
namespace {

using core::floored_remainder;
using core::greatest_or_nan;
using core::least_or_nan;

operand folded(opcode op, const operand& left, const operand& right) {
    bool fault = false;
    const int128 value = compute_whole(op, left.value.whole, right.value.whole, fault);
    if (fault) {
        const bool by_zero = op == opcode::remainder && right.value.whole == 0;
        refuse_expression(left.column, by_zero ? "a remainder of a division by zero"
                                               : "a constant that does not fit 128 bits");
    }
    return constant_whole(value, left.column);
}

double folded_real(opcode op, double a, double b) {
    bool ignored = false;
    switch (op) {
        case opcode::add:
            return a + b;
        case opcode::subtract:
            return a - b;
        case opcode::multiply:
            return a * b;
        case opcode::divide:
            return a / b;
        case opcode::remainder:
            return floored_remainder(a, b, ignored);
        case opcode::minimum:
            return least_or_nan(a, b);
        default:
            return greatest_or_nan(a, b);
    }
}

}  // namespace

operand program_compiler::unary(const expression& tree) {
    operand result = compile(tree.parts.front());
    for (auto op = tree.operators.rbegin(); op != tree.operators.rend(); ++op) {
        if (*op == expression_operator::logical_not) {
            result = inverse(result);
            continue;
        }
        require_number(result, "a sign");
        if (*op == expression_operator::negate) result = negated(result);
        result.column = tree.column;
    }
    return result;
}

operand program_compiler::inverse(const operand& part) {
    const operand truth = truth_of(part);
    if (truth.constant) return constant_truth(truth.value.whole == 0, part.column);
    return in_place(
        nature::truth, value_type::boolean,
        emit({.op = opcode::logical_not, .type = value_type::boolean, .left = truth.place},
             value_type::boolean),
        part.column);
}

operand program_compiler::negated(const operand& part) {
    if (part.numeric()) {
        return whole_pair(opcode::subtract, constant_whole(0, part.column), part);
    }
    if (part.constant) return constant_real(-part.value.real, part.column);
    operand result = part;
    result.place = emit({.op = opcode::negate, .type = part.type, .left = part.place}, part.type);
    return result;
}

operand program_compiler::chain(const expression& tree) {
    operand result = compile(tree.parts.front());
    for (std::size_t i = 0; i < tree.operators.size(); ++i) {
        result = pair(tree.operators[i], result, compile(tree.parts[i + 1]));
    }
    return result;
}

operand program_compiler::pair(expression_operator op, const operand& left, const operand& right) {
    switch (op) {
        case expression_operator::add:
            return arithmetic(opcode::add, "+", left, right);
        case expression_operator::subtract:
            return arithmetic(opcode::subtract, "-", left, right);
        case expression_operator::multiply:
            return arithmetic(opcode::multiply, "*", left, right);
        case expression_operator::divide:
            return arithmetic(opcode::divide, "/", left, right);
        case expression_operator::remainder:
            return arithmetic(opcode::remainder, "%", left, right);
        case expression_operator::bit_and:
            return bits(opcode::bit_and, "&", left, right);
        case expression_operator::bit_or:
            return bits(opcode::bit_or, "|", left, right);
        case expression_operator::bit_xor:
            return bits(opcode::bit_xor, "^", left, right);
        case expression_operator::shift_left:
            return bits(opcode::shift_left, "<<", left, right);
        default:
            return bits(opcode::shift_right, ">>", left, right);
    }
}

operand program_compiler::arithmetic(opcode op, std::string_view sign, const operand& left,
                                     const operand& right) {
    require_number(left, sign);
    require_number(right, sign);
    if (left.numeric() && right.numeric() && op != opcode::divide) {
        return whole_pair(op, left, right);
    }
    return real_pair(op, left, right);
}

operand program_compiler::bits(opcode op, std::string_view sign, const operand& left,
                               const operand& right) {
    require_whole(left, sign);
    require_whole(right, sign);
    const bool of_truths = left.is == nature::truth && right.is == nature::truth;
    if (of_truths && op != opcode::shift_left && op != opcode::shift_right) {
        const int place = emit({.op = op,
                                .type = value_type::boolean,
                                .left = in_register(left, value_type::boolean),
                                .right = in_register(right, value_type::boolean)},
                               value_type::boolean);
        return in_place(nature::truth, value_type::boolean, place, left.column);
    }
    return whole_pair(op, left, right);
}

operand program_compiler::whole_pair(opcode op, const operand& left, const operand& right) {
    const integer_range range = range_of(op, left.range, right.range);
    if (left.constant && right.constant) return folded(op, left, right);
    const value_type type = holding(both(both(left.range, right.range), range));
    instruction made{.op = op, .type = type, .column = left.column};
    made.left = in_register(left, type);
    made.right = in_register(right, type);
    const bool negative_shift =
        (op == opcode::shift_left || op == opcode::shift_right) && right.range.low < 0;
    made.checked =
        range.open || negative_shift || (op == opcode::remainder && right.range.holds(0));
    if (made.checked) made.guard = guard();
    operand result = in_place(nature::whole, type, emit(made, type), left.column);
    result.range = {range.low, range.high, false};
    return result;
}

operand program_compiler::real_pair(opcode op, const operand& left, const operand& right) {
    const meeting where = meet(left, right);
    if (left.constant && right.constant) {
        return constant_real(folded_real(op, real_of(left), real_of(right)), left.column);
    }
    const value_type type = where.type;
    instruction made{.op = op, .type = type, .column = left.column};
    made.left = in_register(as_real(left, where), type);
    made.right = in_register(as_real(right, where), type);
    int place = emit(made, type);
    if (where.half) {
        place = emit({.op = opcode::round_half, .type = type, .left = place}, type);
    }
    operand result = in_place(nature::real, type, place, left.column);
    result.half = where.half;
    return result;
}

operand program_compiler::absolute(const operand& value) {
    if (value.numeric()) {
        if (value.range.low >= 0) return value;
        return whole_pair(opcode::maximum, value, negated(value));
    }
    return of_real(opcode::absolute, value);
}

operand program_compiler::of_real(opcode op, const operand& value) {
    if (value.numeric() && op == opcode::floor) return value;
    if (value.constant) {
        const double real = real_of(value);
        return constant_real(op == opcode::floor      ? std::floor(real)
                             : op == opcode::absolute ? std::fabs(real)
                                                      : std::sqrt(real),
                             value.column);
    }
    const value_type type = value.is == nature::real ? value.type : value_type::f64;
    int place = emit({.op = op, .type = type, .left = in_register(value, type)}, type);
    if (value.half && op == opcode::square_root) {
        place = emit({.op = opcode::round_half, .type = type, .left = place}, type);
    }
    operand result = in_place(nature::real, type, place, value.column);
    result.half = value.half;
    return result;
}

}  // namespace lookback::apps
