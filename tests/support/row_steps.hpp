// Tests: operands, steps and constants of the programs that conditions over rows are lowered to.
#pragma once

#include <lookback/kernels/core/row_steps.hpp>

#include <cstdint>
#include <cstring>

namespace lookback::test {

inline core::row_operand at(core::row_operand::kind is, int number = 0) {
    return {is, 0, static_cast<std::uint16_t>(number)};
}

inline core::row_step step(core::opcode op, core::value_type type, core::row_operand left,
                           core::row_operand right, int target) {
    core::row_step made{};
    made.op = op;
    made.type = type;
    made.left = left;
    made.right = right;
    made.target = static_cast<std::uint8_t>(target);
    made.guard = core::row_step::no_guard;
    return made;
}

template <class T>
core::row_constant constant(T value) {
    core::row_constant made{};
    std::memcpy(made.words, &value, sizeof(T));
    return made;
}

}  // namespace lookback::test
