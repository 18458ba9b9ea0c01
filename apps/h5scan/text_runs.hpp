// h5scan: where runs of equal neighbours begin in a column of variable-length strings.
// Invariant: the strings of one batch are in memory at a time, whatever the column's length.
#pragma once

#include "io/transfer.hpp"

#include <cstdint>
#include <vector>

namespace lookback::apps::h5scan {

/// The first row of each run, ascending. A string that was never written equals the empty one.
/// Throws error{io_error}.
std::vector<std::int64_t> text_run_begins(const io::dataset& strings,
                                          const io::transfer_options& transfer);

}  // namespace lookback::apps::h5scan
