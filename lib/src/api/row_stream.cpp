// API: marks of batches of rows; a condition is checked whole before any of it runs.
#include "api/context_state.hpp"
#include "api/sort_checks.hpp"

#include <lookback/kernels/core/find_terms.hpp>
#include <lookback/kernels/core/row_values.hpp>
#include <lookback/row_stream.hpp>

#include <string>

namespace lookback {
namespace {

using core::opcode;
using core::row_operand;
using core::row_step;
using core::stored_type;
using core::value_type;

constexpr const char* marking = "mark_rows";

/// Whether a step that reads `type` may read a column that is stored so: as many bytes as it has.
bool can_read(value_type type, stored_type stored) {
    switch (type) {
        case value_type::boolean:
            return stored == stored_type::truth;
        case value_type::u64:
            return stored == stored_type::u64;
        case value_type::f32:
            return stored == stored_type::f16 || stored == stored_type::f32;
        case value_type::f64:
            return stored == stored_type::f64;
        case value_type::i64:
        case value_type::i128:
            return stored <= stored_type::u64;
        default:
            return false;
    }
}

class condition_check {
public:
    explicit condition_check(const row_condition& condition) : condition_(condition) {}

    void run() {
        if (condition_.value_slots < 0 || condition_.value_slots > core::value_slots) {
            fail(std::to_string(condition_.value_slots) + " slots of values");
        }
        for (; at_ < condition_.steps.size(); ++at_) check(condition_.steps[at_]);
        require(condition_.result, value_type::boolean);
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        refuse(marking, at_ < condition_.steps.size()
                            ? "step " + std::to_string(at_) + " has " + what
                            : "the condition has " + what);
    }

    void check(const row_step& step) const {
        if (step.op <= opcode::constant || step.op > opcode::logical_not) {
            fail("an operation that is no step");
        }
        if (step.type >= value_type::text || step.from >= value_type::text) fail("no numbers");
        const bool exactly = step.op == opcode::order_exactly;
        const bool converts = step.op == opcode::convert;
        const bool logical = step.op >= opcode::logical_and;
        const value_type read = exactly    ? value_type::i128
                                : converts ? step.from
                                : logical  ? value_type::boolean
                                           : step.type;
        require(step.left, read);
        if (core::is_comparison(step.op) || core::is_simple_pair(step.op) ||
            core::is_costly_pair(step.op) || exactly ||
            (logical && step.op != opcode::logical_not)) {
            require(step.right, exactly ? value_type::f64 : read);
        }
        const bool marks = core::gives_truth(step.op) || (read == value_type::boolean && !converts);
        const bool wide = !exactly && step.type == value_type::i128;
        require_place(marks ? row_operand::kind::marks : row_operand::kind::values, step.target,
                      wide);
        if (step.guard != row_step::no_guard) {
            require_place(row_operand::kind::marks, step.guard, false);
        }
    }

    void require_place(row_operand::kind kind, int at, bool wide) const {
        const int most =
            kind == row_operand::kind::marks ? core::mark_slots : condition_.value_slots;
        if (at + (wide ? 2 : 1) > most) fail("a place beyond " + std::to_string(most));
    }

    void require(const row_operand& operand, value_type type) const {
        const bool truth = type == value_type::boolean;
        switch (operand.is) {
            case row_operand::kind::values:
            case row_operand::kind::marks:
                if ((operand.is == row_operand::kind::marks) != truth) fail("a truth for a value");
                return require_place(operand.is, operand.at, type == value_type::i128);
            case row_operand::kind::column:
                if (operand.at >= condition_.columns.size()) fail("a column that is not there");
                if (!can_read(type, condition_.columns[operand.at])) {
                    fail("a column of another type");
                }
                return;
            case row_operand::kind::constant:
                if (operand.at >= condition_.constants.size()) fail("a constant that is not there");
                return;
            case row_operand::kind::row:
                if (truth) fail("a row number for a truth");
                return;
            default:
                fail("an operand too few");
        }
    }

    const row_condition& condition_;
    std::size_t at_ = 0;
};

}  // namespace

void mark_rows(const context& context, const row_stream& stream) {
    const auto& device = context.internal().device;
    if (!device) refuse(marking, "the context is one of the CPU; a GPU is needed");
    if (!stream.read || !stream.take) refuse(marking, "the stream lacks a function: read or take");
    if (stream.batch_rows == 0) refuse(marking, "batches of 0 rows");
    condition_check(stream.condition).run();
    if (stream.strategy == row_strategy::terms &&
        strategy_of(stream.condition) != row_strategy::terms) {
        refuse(marking, "the condition is more than " + std::to_string(core::row_terms::most) +
                            " range tests of columns");
    }
    cuda::mark_rows(*device, context.memory(), stream);
}

row_strategy strategy_of(const row_condition& condition) {
    return core::find_terms(condition.steps, condition.constants, condition.columns,
                            condition.result)
               ? row_strategy::terms
               : row_strategy::steps;
}

std::size_t mark_rows_memory(const row_condition& condition, std::size_t batch_rows) {
    return cuda::mark_rows_memory(condition, batch_rows).device;
}

std::size_t mark_rows_host_memory(const row_condition& condition, std::size_t batch_rows) {
    return cuda::mark_rows_memory(condition, batch_rows).host;
}

}  // namespace lookback
