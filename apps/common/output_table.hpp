// Apps: where a table goes in the output, and its datasets there.
#pragma once

#include "common/address.hpp"
#include "io/output.hpp"
#include "io/table.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace lookback::apps {

/// The table's path in the output: the input's own, or the one that the target names. `input` is
/// the address as typed. Throws error{invalid_argument} for a dataset in the place of the root.
std::string output_path_of(const address& input, const io::table& table, const address& target);

/// Throws error{invalid_argument} where something of the table exists in the output already.
void require_absent_table(const io::output_file& output, const io::table& table,
                          const std::string& path);

/// Datasets like the table's, and the attributes of the group around compound rows, in which
/// PyTables and pandas tell what the rows mean.
std::vector<io::dataset> create_table(io::output_file& output, const io::table& table,
                                      const std::string& path, std::uint64_t rows,
                                      const io::storage_options& storage, bool copy_rest);

}  // namespace lookback::apps
