// Apps: how the values of a column get into a register of a program.
// Invariant: a number is the same whatever its byte order and stride.
#pragma once

#include "common/program.hpp"
#include "common/program_run.hpp"

#include <cstddef>

namespace lookback::apps {

/// Rows [first, first + n) of an input, in a register of this type: std::string_view for text, a
/// byte for truths.
void load_input(const program_input& what, value_type type, const input_rows& in, std::size_t first,
                std::size_t n, std::byte* out);

}  // namespace lookback::apps
