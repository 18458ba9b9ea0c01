// Level L0 (core): the instruction set of expressions over the rows of a table, which every backend
// runs. Invariant: a register has one type and is written once.
#pragma once

#include <lookback/kernels/core/platform.hpp>

/// A function that is called, not copied into its callers: their code would grow too long.
#if defined(__CUDACC__)
#define LOOKBACK_NOINLINE __noinline__
#else
#define LOOKBACK_NOINLINE [[gnu::noinline]]
#endif

namespace lookback::core {

enum class value_type : std::uint8_t { boolean, i64, u64, i128, f32, f64, text };

/// How a column stores what a load takes. The numbers are in the order of lookback::data_type.
enum class stored_type : std::uint8_t {
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    f16,
    f32,
    f64,
    truth,  ///< a byte, all but 0 true
};

LOOKBACK_HD constexpr int bytes_of(stored_type type) {
    switch (type) {
        case stored_type::i8:
        case stored_type::u8:
        case stored_type::truth:
            return 1;
        case stored_type::i16:
        case stored_type::u16:
        case stored_type::f16:
            return 2;
        case stored_type::i32:
        case stored_type::u32:
        case stored_type::f32:
            return 4;
        default:
            return 8;
    }
}

enum class opcode : std::uint8_t {
    load,      ///< from a column
    row,       ///< the row's number
    constant,  ///< the same in every row
    convert,   ///< from another type
    round_half,
    add,
    subtract,
    multiply,
    divide,
    remainder,  ///< with the sign of the divisor; integers: division by zero is a fault
    bit_and,
    bit_or,
    bit_xor,
    shift_left,
    shift_right,
    minimum,  ///< NaN where one is NaN
    maximum,
    negate,
    absolute,
    floor,
    square_root,
    is_nan,
    is_finite,
    less,
    less_equal,
    equal,
    not_equal,
    greater_equal,
    greater,
    order_exactly,  ///< i128 against f64: -1, 0, 1, or 2 where one is NaN, as i64
    logical_and,
    logical_or,
    logical_not,
};

}  // namespace lookback::core
