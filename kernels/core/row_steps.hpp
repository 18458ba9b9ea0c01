// Level L0 (core): an expression as a GPU runs it: the instructions of row_program.hpp, with the
// place of each operand. Invariant: a column and a constant are read where they are used, so loads
// take no step; conditions are bits, a lane's rows in one number.
#pragma once

#include <lookback/kernels/core/row_program.hpp>

namespace lookback::core {

/// Where a register is.
struct row_operand {
    enum class kind : std::uint8_t { none, values, marks, column, constant, row };

    kind is = kind::none;
    std::uint8_t unused = 0;
    std::uint16_t at = 0;  ///< slot of values, number of marks, column or constant
};

struct alignas(16) row_step {
    opcode op;
    value_type type;  ///< of what is read; with convert: written
    value_type from;  ///< of convert
    bool checked;     ///< may have no result in a row: a fault where `guard`, if any, is true
    row_operand left;
    row_operand right;
    std::uint8_t target;  ///< slot or number of marks
    std::uint8_t guard;   ///< number of marks; none = no_guard

    static constexpr std::uint8_t no_guard = 255;
};
static_assert(sizeof(row_step) == 16);

struct alignas(16) row_column {
    const void* data;  ///< aligned to its items, in the device's byte order
    stored_type type;
};

/// A constant as a register of its type holds it.
struct alignas(16) row_constant {
    std::uint64_t words[2];
};

/// What fits: more values at a time, or more conditions, than these are for the CPU. Programs of
/// few values run faster.
inline constexpr int value_slots = 12;  ///< of 8 bytes; an i128 takes two
inline constexpr int few_value_slots = 2;
inline constexpr int mark_slots = 16;

/// All in device memory. The columns begin at row 0, and as many rows as fill up `padding` can be
/// read behind their last one, whatever is there.
struct row_program {
    static constexpr int padding = 1024;

    const row_step* steps;
    int count;
    row_operand result;  ///< of type boolean
    const row_column* columns;
    const row_constant* constants;
    index_t first_row;     ///< the number of row 0
    std::uint32_t* fault;  ///< set to 1 where a row has a fault; null where no step is checked
};

}  // namespace lookback::core
