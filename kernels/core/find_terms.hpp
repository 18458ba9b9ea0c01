// Level L0 (core), host only: the range tests that the steps of a condition come to, where they do:
// comparisons of columns with constants, joined in any way.
// Invariant: what is found marks the rows that the steps mark, and such steps have no faults.
#pragma once

#include <lookback/kernels/core/row_reading.hpp>
#include <lookback/kernels/core/term_tree.hpp>

#include <optional>
#include <span>
#include <utility>

namespace lookback::core {

/// Runs the steps with sets of keys for conditions.
class term_finder {
public:
    term_finder(std::span<const row_constant> constants, std::span<const stored_type> columns)
        : constants_(constants), columns_(columns) {
        for (int& each : marks_) each = tree_.constant(false);
    }

    /// False where a step may have no result.
    bool take(const row_step& step) {
        if (step.checked) return false;
        if (gives_truth(step.op) || step.type == value_type::boolean) {
            const bool converts = step.op == opcode::convert;
            if (!converts) {
                marks_[step.target] = condition(step);
                return true;
            }
        }
        values_[step.target] = value(step);
        // The upper half of a wide value is no value by itself.
        if (step.type == value_type::i128 && step.op != opcode::order_exactly) {
            values_[step.target + 1].reset();
        }
        return true;
    }
    std::optional<row_terms> terms(row_operand result) { return tree_.terms(truth(result)); }

private:
    using join = term_tree::join;
    using kind = row_operand::kind;

    int truth(row_operand operand) {
        switch (operand.is) {
            case kind::marks:
                return marks_[operand.at];
            case kind::constant:
                return tree_.constant(constants_[operand.at].words[0] != 0);
            case kind::column:
                return set_of(operand.at, key_set::of_range(1, 255, 255));
            default:
                return term_tree::unknown;
        }
    }
    int set_of(std::uint32_t column, std::optional<key_set> keys) {
        if (!keys) return term_tree::unknown;
        return tree_.set(column, columns_[column], *std::move(keys));
    }

    int condition(const row_step& step) {
        switch (step.op) {
            case opcode::logical_and:
            case opcode::bit_and:
                return tree_.joined(join::all, truth(step.left), truth(step.right));
            case opcode::logical_or:
            case opcode::bit_or:
                return tree_.joined(join::any, truth(step.left), truth(step.right));
            case opcode::bit_xor:
                return tree_.joined(join::differ, truth(step.left), truth(step.right));
            case opcode::logical_not:
                return tree_.inverse(truth(step.left));
            default:
                break;
        }
        if (step.op == opcode::is_nan || step.op == opcode::is_finite) {
            const auto read = reading(step.left, step.type);
            return read ? set_of(read->column(), read->tested(step.op, step.type))
                        : term_tree::unknown;
        }
        const bool swapped = step.left.is == kind::constant;
        const row_operand with = swapped ? step.left : step.right;
        const auto read = reading(swapped ? step.right : step.left, step.type);
        if (!read || with.is != kind::constant || !is_comparison(step.op)) {
            return term_tree::unknown;
        }
        return set_of(read->column(), read->compared(swapped ? mirrored(step.op) : step.op,
                                                     step.type, constants_[with.at]));
    }

    std::optional<row_reading> reading(row_operand operand, value_type type) const {
        if (operand.is == kind::values) {
            const auto& held = values_[operand.at];
            return held && held->type() == type ? held : std::nullopt;
        }
        if (operand.is != kind::column) return std::nullopt;
        return row_reading::of(operand.at, columns_[operand.at], type);
    }
    std::optional<row_reading> value(const row_step& step) const {
        const bool orders = step.op == opcode::order_exactly;
        if (step.op != opcode::convert && !orders) return std::nullopt;
        const auto read = reading(step.left, orders ? value_type::i128 : step.from);
        if (!read) return std::nullopt;
        if (!orders) return read->converted(step.type);
        if (step.right.is != kind::constant) return std::nullopt;
        return read->ordered_against(number_in<double>(constants_[step.right.at]));
    }

    std::span<const row_constant> constants_;
    std::span<const stored_type> columns_;
    term_tree tree_;
    int marks_[mark_slots] = {};
    std::optional<row_reading> values_[value_slots + 1];
};

/// The range tests of a condition whose operands are there; nothing where it does not come to at
/// most row_terms::most of them.
inline std::optional<row_terms> find_terms(std::span<const row_step> steps,
                                           std::span<const row_constant> constants,
                                           std::span<const stored_type> columns,
                                           row_operand result) {
    term_finder finder(constants, columns);
    for (const row_step& step : steps) {
        if (!finder.take(step)) return std::nullopt;
    }
    return finder.terms(result);
}

}  // namespace lookback::core
