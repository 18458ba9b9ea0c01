// h5select: --explain, the stages of a compaction on a small input, as text.
#pragma once

#include "h5select/plan.hpp"
#include "h5select/row_bits.hpp"

#include <lookback/context.hpp>

#include <string>

namespace lookback::apps::h5select {

inline constexpr std::uint64_t most_explained_rows = 1000;

/// Input, flags, offsets, kept rows and length, a line each; of a table a line a column. Throws
/// error{invalid_argument} for more than most_explained_rows rows.
std::string explain(const plan& planned, const row_bits& kept, const context& context);

}  // namespace lookback::apps::h5select
