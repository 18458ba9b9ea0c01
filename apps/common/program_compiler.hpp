// Apps: from the tree of an expression to a register program: types, constants, exact integers.
// Invariant: what is emitted reads registers that were written before it.
#pragma once

#include "common/program_operand.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace lookback::apps {

class program_compiler {
public:
    program_compiler(const find_input& find, program& into) : find_(find), out_(into) {}

    void compile_whole(const expression& tree);

private:
    /// Where conditions have decided already, faults do not count.
    struct scope {
        int condition;
        bool negated;
        int all;  // this and the outer ones as one register; -1 = not made yet
    };

    int new_register(value_type type);
    int emit(instruction made, value_type result);
    int guard();
    /// The operand in a register of this type.
    int in_register(const operand& part, value_type type);
    operand truth_of(operand part);
    operand compile(const expression& tree);
    operand compile_part(const expression& tree);
    operand input(const expression& tree);

    // Arithmetic: program_arithmetic.cpp.
    operand unary(const expression& tree);
    operand inverse(const operand& part);
    operand negated(const operand& part);
    operand chain(const expression& tree);
    operand pair(expression_operator op, const operand& left, const operand& right);
    operand arithmetic(opcode op, std::string_view sign, const operand& left, const operand& right);
    operand bits(opcode op, std::string_view sign, const operand& left, const operand& right);
    operand whole_pair(opcode op, const operand& left, const operand& right);
    operand real_pair(opcode op, const operand& left, const operand& right);
    operand absolute(const operand& value);
    operand of_real(opcode op, const operand& value);

    // Conditions: program_conditions.cpp.
    /// Text as the column that it meets has it: the value of an enum's name, without padding.
    operand as_met(const operand& part, const operand& other) const;
    operand compare(expression_operator op, const operand& given_left, const operand& given_right);
    operand ordered(opcode op, const operand& left, const operand& right);
    operand compared(opcode op, value_type type, const operand& left, const operand& right);
    /// A whole number against a real one; `swapped`: the real one stands on the left.
    operand exactly(opcode op, const operand& whole, const operand& real, bool swapped);
    operand either(const operand& a, const operand& b);
    /// A real constant as the whole number that compares alike; none where it is out of reach.
    std::optional<operand> with_constant(opcode op, const operand& whole, double value,
                                         bool swapped);
    operand joined(const expression& tree);
    operand one_of(const expression& tree);
    operand between(const expression& tree);
    operand call(const expression& tree);
    operand test(const operand& value, bool nan);

    const find_input& find_;
    program& out_;
    std::vector<scope> scopes_;
    std::size_t column_ = 0;  // of the part that is compiled
};

}  // namespace lookback::apps
