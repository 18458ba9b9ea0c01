// h5select: whether a GPU evaluates the condition, and why not.
// Invariant: what was chosen can be carried out: the expression has steps, a GPU is there and has
// the memory. The rows themselves are moved by the host.
#pragma once

#include "common/program_steps.hpp"
#include "h5select/plan.hpp"

#include <lookback/context.hpp>
#include <lookback/row_stream.hpp>

#include <optional>
#include <string>

namespace lookback::apps::h5select {

/// As the library takes it; `steps` must stay.
row_condition condition_of(const program_steps& steps);

/// A context whose GPU evaluates the condition, and the plan prepared for it; nothing where the CPU
/// does, then `why` says so in one line. Throws error where --backend cuda cannot be followed.
std::optional<context> open_device(plan& planned, const request& wanted, std::string& why);

}  // namespace lookback::apps::h5select
