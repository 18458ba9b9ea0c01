// Apps: columns by the names that people type: of a group or of compound rows, a.b for nested
// fields, x[2] for one of several values a row.
// Invariant: a column that was found has as many rows as the table.
#pragma once

#include "io/table.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lookback::apps {

struct named_column {
    io::dataset dataset;                ///< that holds it
    std::optional<std::size_t> column;  ///< which of the table's datasets that is; none: no one
    std::optional<io::field> field;     ///< inside the dataset's stored row; none: the whole row
    io::element_type type;
};

/// Finds a column of the table, also one that was not chosen when the table was opened. An empty
/// name is the first dataset. Throws error{invalid_argument} for values that a row does not have.
std::optional<named_column> find_column(const io::table& table, const std::string& name);

/// The columns that a message can offer.
std::vector<std::string> names_to_choose(const io::table& table);

/// The last part of a dataset's path.
std::string base_name(const io::dataset& dataset);

}  // namespace lookback::apps
