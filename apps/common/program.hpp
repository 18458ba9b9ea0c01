// Apps: an expression as a typed register program, which any backend can run over batches of rows.
// Invariant: every instruction writes one register of one type, after those that it reads; a
// register is written once. Integers are exact: a type is chosen that holds every possible result,
// and where 128 bits might not, the instruction checks.
#pragma once

#include "common/expression.hpp"

#include <lookback/kernels/core/row_values.hpp>
#include <lookback/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lookback::apps {

using core::int128;
using core::opcode;
using core::uint128;
using core::value_type;

struct instruction {
    opcode op;
    value_type type;                    ///< of what is read; with load, row, constant: written
    value_type from = value_type::i64;  ///< of convert
    int target = -1;                    ///< registers
    int left = -1;
    int right = -1;
    int guard = -1;          ///< faults count where this register is true; -1 = everywhere
    bool checked = false;    ///< may exceed its type, which is a fault
    std::size_t input = 0;   ///< or constant
    std::size_t column = 0;  ///< in the text, for faults
};

struct program_constant {
    int128 whole = 0;
    double real = 0;
    std::string text = {};
};

/// What a column gives: a number as in memory, or text.
struct program_input {
    std::string name;
    bool is_text = false;
    bool is_truth = false;
    data_type number = data_type::u8;
    bool space_padded = false;  ///< blanks at the end of text do not count
    std::vector<std::pair<std::string, int128>> names = {};  ///< of an enum's values
};

struct program {
    std::vector<program_input> inputs;
    std::vector<program_constant> constants;
    std::vector<instruction> code;
    std::vector<value_type> registers;  ///< type of each
    int result = -1;                    ///< a boolean register
};

/// What a name stands for; `column` is its place in the text. Throws error{invalid_argument}.
using find_input = std::function<program_input(const std::string& name, std::size_t column)>;

/// Throws error{invalid_argument} for what has no meaning, with its column in the text.
///
/// Text that meets an enum is one of its names. Booleans count as 0 and 1 in arithmetic; integers
/// other than 0 are true where a condition is wanted. Constants take the type of the column that
/// they meet, unless that would make them infinite; f16 and f32 are computed as such, mixed types
/// as f64; / divides as real numbers do. Integers are compared with reals exactly. NaN fails every
/// comparison but !=.
program compile(const expression& tree, const find_input& find);

}  // namespace lookback::apps
