// Comparisons, and how conditions join.
#include "common/program_compiler.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps {

operand program_compiler::as_met(const operand& part, const operand& other) const {
    if (part.is != nature::text || !part.constant || !other.input) return part;
    const program_input& column = out_.inputs[*other.input];
    operand result = part;
    if (column.is_text) {
        std::string& text = result.value.text;
        while (column.space_padded && text.ends_with(' ')) text.pop_back();
        return result;
    }
    if (column.names.empty()) return part;
    std::string known;
    for (const auto& [name, value] : column.names) {
        if (name == part.value.text) return constant_whole(value, part.column);
        known += (known.empty() ? "" : ", ") + name;
    }
    refuse_expression(part.column, fmt::format("'{}' is no value of {}, which has {}",
                                               part.value.text, column.name, known));
}

operand program_compiler::compare(expression_operator op, const operand& given_left,
                                  const operand& given_right) {
    const operand left = as_met(given_left, given_right);
    const operand right = as_met(given_right, given_left);
    if ((left.is == nature::text) != (right.is == nature::text)) {
        const operand& other = left.is == nature::text ? right : left;
        refuse_expression(other.column, fmt::format("text is compared with {}{}", name_of(other),
                                                    "; text stands in single quotes"));
    }
    // a > b is b < a.
    if (op == expression_operator::greater) return ordered(opcode::less, right, left);
    if (op == expression_operator::greater_equal) {
        return ordered(opcode::less_equal, right, left);
    }
    switch (op) {
        case expression_operator::less:
            return ordered(opcode::less, left, right);
        case expression_operator::less_equal:
            return ordered(opcode::less_equal, left, right);
        case expression_operator::equal:
            return ordered(opcode::equal, left, right);
        default:
            return ordered(opcode::not_equal, left, right);
    }
}

operand program_compiler::ordered(opcode op, const operand& left, const operand& right) {
    if (left.is == nature::text) return compared(op, value_type::text, left, right);
    if (left.numeric() && right.numeric()) {
        return compared(op, holding(both(left.range, right.range)), left, right);
    }
    const bool left_whole = left.numeric() && !left.constant;
    const bool right_whole = right.numeric() && !right.constant;
    if (left_whole) return exactly(op, left, right, false);
    if (right_whole) return exactly(op, right, left, true);
    const meeting where = meet(left, right);
    return compared(op, where.type, as_real(left, where), as_real(right, where));
}

operand program_compiler::compared(opcode op, value_type type, const operand& left,
                                   const operand& right) {
    const int place = emit({.op = op,
                            .type = type,
                            .left = in_register(left, type),
                            .right = in_register(right, type)},
                           value_type::boolean);
    return in_place(nature::truth, value_type::boolean, place, left.column);
}

operand program_compiler::exactly(opcode op, const operand& whole, const operand& real,
                                  bool swapped) {
    if (real.constant) {
        if (auto result = with_constant(op, whole, real.value.real, swapped)) return *result;
    }
    const int order = emit({.op = opcode::order_exactly,
                            .type = value_type::i128,
                            .left = in_register(whole, value_type::i128),
                            .right = in_register(real, value_type::f64)},
                           value_type::i64);
    operand found = in_place(nature::whole, value_type::i64, order, whole.column);
    found.range = {-1, 2, false};
    const auto is = [&](opcode relation, int value) {
        return compared(relation, value_type::i64, found, constant_whole(value, whole.column));
    };
    switch (op) {
        case opcode::equal:
            return is(opcode::equal, 0);
        case opcode::not_equal:
            return is(opcode::not_equal, 0);
        case opcode::less:
            return is(opcode::equal, swapped ? 1 : -1);
        default:
            break;
    }
    const operand strictly = is(opcode::equal, swapped ? 1 : -1);
    return either(strictly, is(opcode::equal, 0));
}

operand program_compiler::either(const operand& a, const operand& b) {
    return in_place(nature::truth, value_type::boolean,
                    emit({.op = opcode::logical_or,
                          .type = value_type::boolean,
                          .left = a.place,
                          .right = b.place},
                         value_type::boolean),
                    a.column);
}

std::optional<operand> program_compiler::with_constant(opcode op, const operand& whole,
                                                       double value, bool swapped) {
    if (!(std::fabs(value) < std::ldexp(1.0, 126))) return std::nullopt;
    const double below = std::floor(value);
    const operand bound = constant_whole(static_cast<int128>(below), whole.column);
    if (below == value) {
        return swapped ? ordered(op, bound, whole) : ordered(op, whole, bound);
    }
    switch (op) {
        case opcode::equal:
            return constant_truth(false, whole.column);
        case opcode::not_equal:
            return constant_truth(true, whole.column);
        default:
            // Nothing whole lies between the constant and the whole number below it.
            return swapped ? ordered(opcode::less, bound, whole)
                           : ordered(opcode::less_equal, whole, bound);
    }
}

operand program_compiler::joined(const expression& tree) {
    const bool all = tree.kind == expression_kind::all;
    operand result = truth_of(compile(tree.parts.front()));
    const std::size_t outer = scopes_.size();
    for (std::size_t i = 1; i < tree.parts.size(); ++i) {
        result.place = in_register(result, value_type::boolean);
        result.constant = false;
        // One scope for the whole chain: what has decided so far.
        scopes_.resize(outer);
        scopes_.push_back({result.place, !all, -1});
        const operand next = truth_of(compile(tree.parts[i]));
        const int place = emit({.op = all ? opcode::logical_and : opcode::logical_or,
                                .type = value_type::boolean,
                                .left = result.place,
                                .right = in_register(next, value_type::boolean)},
                               value_type::boolean);
        result = in_place(nature::truth, value_type::boolean, place, tree.column);
    }
    scopes_.resize(outer);
    return result;
}

operand program_compiler::one_of(const expression& tree) {
    const operand value = compile(tree.parts.front());
    operand result = constant_truth(false, tree.column);
    for (std::size_t i = 1; i < tree.parts.size(); ++i) {
        operand same = compare(expression_operator::equal, value, compile(tree.parts[i]));
        same.place = in_register(same, value_type::boolean);
        same.constant = false;
        result = i == 1 ? same : either(result, same);
    }
    return tree.operators.empty() ? result : inverse(result);
}

operand program_compiler::between(const expression& tree) {
    const operand value = compile(tree.parts[0]);
    const operand low = compile(tree.parts[1]);
    const operand high = compile(tree.parts[2]);
    const operand above = compare(expression_operator::greater_equal, value, low);
    const operand below = compare(expression_operator::less_equal, value, high);
    const int place = emit({.op = opcode::logical_and,
                            .type = value_type::boolean,
                            .left = in_register(above, value_type::boolean),
                            .right = in_register(below, value_type::boolean)},
                           value_type::boolean);
    const operand result = in_place(nature::truth, value_type::boolean, place, tree.column);
    return tree.operators.empty() ? result : inverse(result);
}

operand program_compiler::call(const expression& tree) {
    const std::string& name = tree.text;
    const bool several = name == "min" || name == "max";
    if (several ? tree.parts.size() < 2 : tree.parts.size() != 1) {
        refuse_expression(tree.column, fmt::format("{} takes {}", name,
                                                   several ? "two values or more" : "one value"));
    }
    operand value = compile(tree.parts.front());
    require_number(value, name);
    if (several) {
        for (std::size_t i = 1; i < tree.parts.size(); ++i) {
            value = arithmetic(name == "min" ? opcode::minimum : opcode::maximum, name, value,
                               compile(tree.parts[i]));
        }
        return value;
    }
    value.column = tree.column;
    if (name == "isnan" || name == "isfinite") return test(value, name == "isnan");
    if (name == "abs") return absolute(value);
    if (name == "floor") return of_real(opcode::floor, value);
    return of_real(opcode::square_root, value);
}

operand program_compiler::test(const operand& value, bool nan) {
    if (value.numeric()) return constant_truth(!nan, value.column);
    if (value.constant) {
        const bool yes = nan ? std::isnan(value.value.real) : std::isfinite(value.value.real);
        return constant_truth(yes, value.column);
    }
    return in_place(nature::truth, value_type::boolean,
                    emit({.op = nan ? opcode::is_nan : opcode::is_finite,
                          .type = value.type,
                          .left = value.place},
                         value_type::boolean),
                    value.column);
}

}  // namespace lookback::apps
