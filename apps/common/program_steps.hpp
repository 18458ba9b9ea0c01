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

/// Why a GPU cannot run the program, in a few words; nothing where it can.
std::optional<std::string> why_not_steps(const program& code);

/// Throws error{invalid_argument} where it cannot.
program_steps to_steps(const program& code);

/// Numbers of `bytes` bytes one behind the other, in this machine's byte order: as steps read them.
void pack_rows(const input_rows& in, std::size_t bytes, std::size_t rows, std::byte* out);

}  // namespace lookback::apps
