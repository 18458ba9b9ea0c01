// h5sort: the work: read, sort, write.
// Invariant: the output appears only when all of it is written and synced.
#pragma once

#include "common/report.hpp"
#include "common/stages.hpp"
#include "h5sort/plan.hpp"

#include <lookback/context.hpp>

namespace lookback::apps::h5sort {

/// Carries out a plan; fills in rows_out, bytes and strategy of the report. Throws error.
void run_sort(const plan& planned, const request& wanted, const context& context, stages& timed,
              report& told);

}  // namespace lookback::apps::h5sort
