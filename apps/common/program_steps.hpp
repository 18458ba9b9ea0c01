// Apps: a program as the steps that a GPU runs (kernels/core/row_steps.hpp).
// Invariant: loads and constants become operands; registers share places where one is read for the
// last time before the other is written.
#pragma once

#include "common/program.hpp"
#include "common/program_run.hpp"

#include <lookback/kernels/core/row_steps.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lookback::apps {

struct program_steps {
    std::vector<core::row_step> steps;
    std::vector<core::row_constant> constants;
    std::vector<core::stored_type> columns;  ///< how each input must be stored
    core::row_operand result;
    bool checked = false;  ///< some step may have no result
    int value_slots = 0;   ///< that are used
};

/// What a GPU cannot run, in a few words, and the column of it in the text.
struct steps_obstacle {
    std::string why;
    std::size_t column = 0;
};
/// Nothing where a GPU can run the program.
std::optional<steps_obstacle> why_not_steps(const program& code);

/// Throws error{invalid_argument} where it cannot.
program_steps to_steps(const program& code);

/// Numbers of `bytes` bytes one behind the other, in this machine's byte order: as steps read them.
void pack_rows(const input_rows& in, std::size_t bytes, std::size_t rows, std::byte* out);

}  // namespace lookback::apps
