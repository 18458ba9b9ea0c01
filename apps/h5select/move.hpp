// h5select: one column's rows from the input to those that are kept and those that are not.
// Invariant: a batch is read ahead, compacted, and written behind, each beside the others; chunks
// without a row that is wanted are not read. Memory is a few batches.
#pragma once

#include "h5select/held_rows.hpp"
#include "h5select/row_bits.hpp"
#include "io/dataset.hpp"
#include "io/transfer.hpp"

#include <lookback/context.hpp>

#include <cstddef>
#include <optional>

namespace lookback::apps::h5select {

/// Moves all rows of `source`, the table's dataset `column`; kept.kept() rows go to `to_kept`, the
/// others to `to_rest`. Those that are held come from there.
void move_rows(const context& context, const io::dataset& source, std::size_t column,
               held_rows& held, const row_bits& kept, const std::optional<io::dataset>& to_kept,
               const std::optional<io::dataset>& to_rest, const io::transfer_options& transfer);

/// Writes the numbers of the rows that are kept.
void write_row_numbers(const row_bits& kept, const io::dataset& target,
                       const io::transfer_options& transfer);

}  // namespace lookback::apps::h5select
