// h5sort: is a table sorted? Answered in passes, in memory that does not grow with the file.
#pragma once

#include "h5sort/key_values.hpp"
#include "h5sort/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace lookback::apps::h5sort {

struct disorder {
    std::uint64_t row = 0;  ///< stands out of order after the row before it
    std::string text;       ///< "FILE:/path: row 5 is out of order: time 3 after time 7"
};

/// The first disorder of the first input, segments taken into account. With `strict` equal keys are
/// a disorder too.
std::optional<disorder> find_disorder(const plan& planned, const context& context, bool strict,
                                      const io::transfer_options& options);

/// Throws error{invalid_argument} that names the first input which is not sorted. `keys` are those
/// of all inputs, one behind the other.
void require_sorted_inputs(const plan& planned, const context& context,
                           const std::vector<sort_key>& keys);

/// The offsets of --segments, checked against the number of rows: they start at 0, do not decrease
/// and end at `rows`, else error{invalid_argument} names the first offending position.
std::vector<std::int64_t> read_segments(const io::dataset& offsets, std::uint64_t rows,
                                        const io::transfer_options& options);

}  // namespace lookback::apps::h5sort
