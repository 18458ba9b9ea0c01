// h5sort: the work: read, sort, write.
// Invariant: the output appears only when all of it is written and synced.
#pragma once

#include "common/session.hpp"
#include "h5sort/plan.hpp"

#include <lookback/context.hpp>

namespace lookback::apps::h5sort {

/// Carries out a plan; fills in the output, its rows, bytes and strategy in the report. `work`
/// sorts; `host`, the same or a CPU context, has the memory and does the rest. Throws error.
void run_sort(const plan& planned, const request& wanted, const context& work, const context& host,
              session& session);

}  // namespace lookback::apps::h5sort
