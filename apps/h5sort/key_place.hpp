// h5sort: from the names of -k to places in the table.
#pragma once

#include "h5sort/plan.hpp"

#include <vector>

namespace lookback::apps::h5sort {

/// The keys in all inputs; without -k, the values of the only dataset. Keys may name columns that
/// --columns leaves out. Throws error{invalid_argument}: unknown names (with the nearest), types
/// without an order, several values a row.
std::vector<key_column> find_keys(const request& wanted, const std::vector<io::table>& inputs);

}  // namespace lookback::apps::h5sort
