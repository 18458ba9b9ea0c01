// From the tree of an expression to a register program: types, constants, exact integers.
#include "common/program.hpp"

#include "common/half.hpp"
#include "common/integer_range.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps {
namespace {

using core::checked_add;
using core::checked_multiply;
using core::floored_remainder;
using core::greatest_or_nan;
using core::least_or_nan;

/// What a part of the expression is.
struct operand {
    enum class nature : std::uint8_t { truth, whole, real, text };

    nature is = nature::truth;
    std::size_t column = 1;
    bool constant = false;
    bool half = false;                      // a real of 16 bits, in a register of f32
    value_type type = value_type::boolean;  // of the register
    int place = -1;                         // the register
    integer_range range = {};               // of a whole number
    std::optional<std::size_t> input = {};  // a column as it is
    program_constant value = {};            // of a constant

    bool numeric() const { return is == nature::whole || is == nature::truth; }
};
using nature = operand::nature;

std::string_view name_of(const operand& part) {
    switch (part.is) {
        case nature::truth:
            return "a condition";
        case nature::whole:
            return "an integer";
        case nature::real:
            return "a real number";
        case nature::text:
            break;
    }
    return "text";
}

class compiler {
public:
    compiler(const find_input& find, program& into) : find_(find), out_(into) {}

    void compile_whole(const expression& tree) {
        out_.result = in_register(truth_of(compile(tree)), value_type::boolean);
    }

private:
    /// Where conditions have decided already, faults do not count.
    struct scope {
        int condition;
        bool negated;
        int all;  // this and the outer ones as one register; -1 = not made yet
    };

    int new_register(value_type type) {
        out_.registers.push_back(type);
        return static_cast<int>(out_.registers.size()) - 1;
    }
    int emit(instruction made, value_type result) {
        if (made.column == 0) made.column = column_;
        made.target = new_register(result);
        out_.code.push_back(made);
        return made.target;
    }

    int guard() {
        int outer = -1;
        for (scope& each : scopes_) {
            if (each.all < 0) {
                int own = each.condition;
                if (each.negated) {
                    own =
                        emit({.op = opcode::logical_not, .type = value_type::boolean, .left = own},
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

    static operand constant_whole(int128 value, std::size_t column) {
        operand result{.is = nature::whole, .column = column, .constant = true};
        result.range = {value, value, false};
        result.value.whole = value;
        return result;
    }
    static operand constant_real(double value, std::size_t column) {
        operand result{.is = nature::real, .column = column, .constant = true};
        result.value.real = value;
        return result;
    }
    static operand constant_truth(bool value, std::size_t column) {
        operand result = constant_whole(value ? 1 : 0, column);
        result.is = nature::truth;
        return result;
    }
    static operand in_place(nature is, value_type type, int place, std::size_t column) {
        operand result{.is = is, .column = column};
        result.type = type;
        result.place = place;
        if (is == nature::truth) result.range = {0, 1, false};
        return result;
    }

    /// The operand in a register of this type.
    int in_register(const operand& part, value_type type) {
        if (part.constant) {
            program_constant value = part.value;
            if (part.numeric()) value.real = static_cast<double>(value.whole);
            out_.constants.push_back(std::move(value));
            return emit({.op = opcode::constant, .type = type, .input = out_.constants.size() - 1},
                        type);
        }
        if (part.type == type) return part.place;
        return emit({.op = opcode::convert, .type = type, .from = part.type, .left = part.place},
                    type);
    }

    operand truth_of(operand part) {
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

    static void require_number(const operand& part, std::string_view where) {
        if (part.is == nature::text) {
            refuse_expression(part.column, fmt::format("{} takes numbers, not text", where));
        }
    }
    static void require_whole(const operand& part, std::string_view where) {
        if (!part.numeric()) {
            refuse_expression(part.column, fmt::format("{} takes integers, and this is {}", where,
                                                       name_of(part)));
        }
    }

    operand compile(const expression& tree) {
        // Of what is emitted for it alone, not for its parts.
        const std::size_t outer = std::exchange(column_, tree.column);
        operand result = compile_part(tree);
        column_ = outer;
        return result;
    }
    operand compile_part(const expression& tree) {
        switch (tree.kind) {
            case expression_kind::number:
                return number(tree);
            case expression_kind::text: {
                operand result{.is = nature::text, .column = tree.column, .constant = true};
                result.type = value_type::text;
                result.value.text = tree.text;
                return result;
            }
            case expression_kind::column:
                return input(tree);
            case expression_kind::row: {
                operand result =
                    in_place(nature::whole, value_type::i64,
                             emit({.op = opcode::row, .type = value_type::i64}, value_type::i64),
                             tree.column);
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
                return compare(tree.operators.front(), compile(tree.parts[0]),
                               compile(tree.parts[1]));
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

    static operand number(const expression& tree) {
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

    operand input(const expression& tree) {
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

    operand unary(const expression& tree) {
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
    operand inverse(const operand& part) {
        const operand truth = truth_of(part);
        if (truth.constant) return constant_truth(truth.value.whole == 0, part.column);
        return in_place(
            nature::truth, value_type::boolean,
            emit({.op = opcode::logical_not, .type = value_type::boolean, .left = truth.place},
                 value_type::boolean),
            part.column);
    }
    operand negated(const operand& part) {
        if (part.numeric()) {
            return whole_pair(opcode::subtract, constant_whole(0, part.column), part);
        }
        if (part.constant) return constant_real(-part.value.real, part.column);
        operand result = part;
        result.place =
            emit({.op = opcode::negate, .type = part.type, .left = part.place}, part.type);
        return result;
    }

    operand chain(const expression& tree) {
        operand result = compile(tree.parts.front());
        for (std::size_t i = 0; i < tree.operators.size(); ++i) {
            result = pair(tree.operators[i], result, compile(tree.parts[i + 1]));
        }
        return result;
    }

    operand pair(expression_operator op, const operand& left, const operand& right) {
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

    operand arithmetic(opcode op, std::string_view sign, const operand& left,
                       const operand& right) {
        require_number(left, sign);
        require_number(right, sign);
        if (left.numeric() && right.numeric() && op != opcode::divide) {
            return whole_pair(op, left, right);
        }
        return real_pair(op, left, right);
    }

    operand bits(opcode op, std::string_view sign, const operand& left, const operand& right) {
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

    operand whole_pair(opcode op, const operand& left, const operand& right) {
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

    static operand folded(opcode op, const operand& left, const operand& right) {
        bool fault = false;
        const int128 value = compute_whole(op, left.value.whole, right.value.whole, fault);
        if (fault) {
            const bool by_zero = op == opcode::remainder && right.value.whole == 0;
            refuse_expression(left.column, by_zero ? "a remainder of a division by zero"
                                                   : "a constant that does not fit 128 bits");
        }
        return constant_whole(value, left.column);
    }

    static double real_of(const operand& part) {
        return part.numeric() ? static_cast<double>(part.value.whole) : part.value.real;
    }

    /// The type in which reals meet: of the widest column; constants follow, integers are wide.
    struct meeting {
        value_type type = value_type::f64;
        bool half = false;
    };
    static meeting meet(const operand& left, const operand& right) {
        const auto narrow = [](const operand& part) {
            return part.constant || (part.is == nature::real && part.type == value_type::f32);
        };
        if ((left.constant && right.constant) || !narrow(left) || !narrow(right)) return {};
        const auto half = [](const operand& part) { return part.constant || part.half; };
        const meeting where{value_type::f32, half(left) && half(right)};
        // A constant that its column's type cannot hold stays as it is.
        for (const operand& part : {left, right}) {
            const bool lost = part.constant && std::isfinite(real_of(part)) &&
                              !std::isfinite(real_of(as_real(part, where)));
            if (lost) return {};
        }
        return where;
    }
    static operand as_real(const operand& part, const meeting& where) {
        if (!part.constant) return part;
        double value = real_of(part);
        if (where.type == value_type::f32) {
            auto narrow = static_cast<float>(value);
            if (where.half) narrow = round_to_half(narrow);
            value = static_cast<double>(narrow);
        }
        return constant_real(value, part.column);
    }

    operand real_pair(opcode op, const operand& left, const operand& right) {
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
    static double folded_real(opcode op, double a, double b) {
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

    /// Text as the column that it meets has it: the value of an enum's name, without padding.
    operand as_met(const operand& part, const operand& other) const {
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

    operand compare(expression_operator op, const operand& given_left, const operand& given_right) {
        const operand left = as_met(given_left, given_right);
        const operand right = as_met(given_right, given_left);
        if ((left.is == nature::text) != (right.is == nature::text)) {
            const operand& other = left.is == nature::text ? right : left;
            refuse_expression(other.column,
                              fmt::format("text is compared with {}{}", name_of(other),
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

    operand ordered(opcode op, const operand& left, const operand& right) {
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

    operand compared(opcode op, value_type type, const operand& left, const operand& right) {
        const int place = emit({.op = op,
                                .type = type,
                                .left = in_register(left, type),
                                .right = in_register(right, type)},
                               value_type::boolean);
        return in_place(nature::truth, value_type::boolean, place, left.column);
    }

    /// A whole number against a real one; `swapped`: the real one stands on the left.
    operand exactly(opcode op, const operand& whole, const operand& real, bool swapped) {
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
    operand either(const operand& a, const operand& b) {
        return in_place(nature::truth, value_type::boolean,
                        emit({.op = opcode::logical_or,
                              .type = value_type::boolean,
                              .left = a.place,
                              .right = b.place},
                             value_type::boolean),
                        a.column);
    }

    /// A real constant as the whole number that compares alike; none where it is out of reach.
    std::optional<operand> with_constant(opcode op, const operand& whole, double value,
                                         bool swapped) {
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

    operand joined(const expression& tree) {
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

    operand one_of(const expression& tree) {
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

    operand between(const expression& tree) {
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

    operand call(const expression& tree) {
        const std::string& name = tree.text;
        const bool several = name == "min" || name == "max";
        if (several ? tree.parts.size() < 2 : tree.parts.size() != 1) {
            refuse_expression(
                tree.column,
                fmt::format("{} takes {}", name, several ? "two values or more" : "one value"));
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

    operand test(const operand& value, bool nan) {
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

    operand absolute(const operand& value) {
        if (value.numeric()) {
            if (value.range.low >= 0) return value;
            return whole_pair(opcode::maximum, value, negated(value));
        }
        return of_real(opcode::absolute, value);
    }

    operand of_real(opcode op, const operand& value) {
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

    const find_input& find_;
    program& out_;
    std::vector<scope> scopes_;
    std::size_t column_ = 0;  // of the part that is compiled
};

}  // namespace

program compile(const expression& tree, const find_input& find) {
    program result;
    compiler(find, result).compile_whole(tree);
    return result;
}

}  // namespace lookback::apps
