// Apps: from addresses on the command line to tables and datasets.
#pragma once

#include "common/address.hpp"
#include "io/table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lookback::apps {

/// Opens what an address names, or the file's only table; `columns` as io::table::open takes them.
/// Throws error that names the file and lists what is there.
io::table open_table(const address& named, const std::vector<std::string>& columns = {});

/// Opens a dataset that another option names: a name beside the table (in a group of columns: in
/// it or beside it), an absolute path in its file, or FILE:/path.
io::dataset open_beside(std::string_view text, const io::table& table);

/// "FILE:/path" of a table.
std::string address_of(const io::table& table);

}  // namespace lookback::apps
