// Apps: what the parts of an expression are while it is compiled to a program.
// Invariant: a constant has no register until it is needed in one, and then of a type of its own.
#pragma once

#include "common/integer_range.hpp"
#include "common/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lookback::apps {

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

std::string_view name_of(const operand& part);

operand constant_whole(int128 value, std::size_t column);
operand constant_real(double value, std::size_t column);
operand constant_truth(bool value, std::size_t column);
operand in_place(nature is, value_type type, int place, std::size_t column);

// These throw error{invalid_argument} for what `where` cannot take.
void require_number(const operand& part, std::string_view where);
void require_whole(const operand& part, std::string_view where);

double real_of(const operand& part);

/// The type in which reals meet: of the widest column; constants follow, integers are wide.
struct meeting {
    value_type type = value_type::f64;
    bool half = false;
};
meeting meet(const operand& left, const operand& right);
operand as_real(const operand& part, const meeting& where);

}  // namespace lookback::apps
