// h5select: the pass that finds the rows to keep.
// Invariant: reads the columns that the condition names and no others, in batches; the result does
// not depend on the batches or the number of threads.
#pragma once

#include "h5select/device.hpp"
#include "h5select/held_rows.hpp"
#include "h5select/row_bits.hpp"
#include "io/transfer.hpp"

#include <lookback/context.hpp>

namespace lookback::apps::h5select {

/// Appends the bits of all rows to `kept`, and gives `held` what it can use. `device` evaluates the
/// condition that open_device() prepared, and what is returned says how; null: the CPU does. Throws
/// error for values that cannot be computed, with their row.
row_strategy decide(const plan& planned, const request& wanted, const context* device,
                    const io::transfer_options& transfer, row_bits& kept, held_rows& held);

}  // namespace lookback::apps::h5select
