// Apps: the options that say where and how results are written, the same in every app.
#pragma once

#include "common/address.hpp"
#include "common/options.hpp"
#include "io/output.hpp"

#include <string>
#include <string_view>

namespace lookback::apps {

struct output_request {
    address target;  ///< file empty where no --output was given
    io::storage_options storage;
    io::output_options mode;
};

/// Adds output, overwrite, truncate, filter and chunk.
void add_output_options(boost::program_options::options_description& options);

/// Throws error{invalid_argument}.
output_request read_output_options(const command_line& line);

/// True where both names lead to one file, also to one that is not there yet.
bool same_file(const std::string& a, const std::string& b);

/// The path of a new object called `name` that stands beside the output at `path`: in the same
/// group, or `name` itself where it is absolute.
std::string path_beside(std::string_view name, const std::string& path);

}  // namespace lookback::apps
