// h5select: what the command line asks for.
// Invariant: options that exclude each other are refused here, before any file is opened.
#pragma once

#include "common/address.hpp"
#include "common/options.hpp"
#include "common/output_options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lookback::apps::h5select {

/// a:b:step as typed; negative bounds count from the end.
struct row_slice {
    std::optional<std::int64_t> begin;
    std::optional<std::int64_t> end;
    std::int64_t step = 1;
};

/// "10:20", ":-5", "::2". Throws error{invalid_argument}.
row_slice parse_slice(std::string_view text);

struct request {
    address input;
    output_request output;
    std::optional<address> rest;  ///< where the rows go that are not kept
    std::optional<std::string> where;
    std::string mask;  ///< a dataset, as typed
    std::optional<row_slice> slice;
    bool invert = false;
    std::vector<std::string> unique;
    std::vector<std::string> columns;
    bool count = false;
    bool explain = false;
    std::string indices;  ///< name of the row numbers, empty = none
    bool copy_rest = false;
    common_options common;

    bool writes() const { return !output.target.file.empty() || rest.has_value(); }
};

/// Name, options and help of h5select.
const app_description& description();

/// Throws error{invalid_argument}.
request read_request(const command_line& line);

}  // namespace lookback::apps::h5select
