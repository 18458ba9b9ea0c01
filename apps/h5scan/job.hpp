// h5scan: carries a plan out.
#pragma once

#include "common/session.hpp"
#include "h5scan/plan.hpp"

#include <lookback/context.hpp>

namespace lookback::apps::h5scan {

/// Reads, scans (or converts), writes. `work` is where the scan runs. Throws error; the output is
/// then as it was.
void run_scan(const plan& planned, const request& wanted, const context& work, session& session);

}  // namespace lookback::apps::h5scan
