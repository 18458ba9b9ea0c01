// h5select: the run: decide, then move column after column, then commit.
#pragma once

#include "common/session.hpp"
#include "h5select/plan.hpp"

namespace lookback::apps::h5select {

/// Carries the plan out and fills in the session's report. Throws error.
void run_select(const plan& planned, const request& wanted, const context& host,
                const context* device, session& session);

}  // namespace lookback::apps::h5select
