// h5scan: what the command line asks for.
// Invariant: options that exclude each other are refused here, before any file is opened.
#pragma once

#include "common/address.hpp"
#include "common/options.hpp"
#include "common/output_options.hpp"
#include "common/ragged.hpp"

#include <lookback/scan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lookback::apps::h5scan {

struct request {
    address input;
    output_request output;
    std::vector<std::string> columns;
    scan_operator op = scan_operator::plus;
    bool exclusive = false;
    bool reduce = false;
    std::string init;      ///< as typed; empty = none
    std::string segments;  ///< a dataset, as typed
    convention segments_as = convention::offsets;
    std::string by;  ///< a dataset, as typed
    std::optional<data_type> dtype;
    bool wrap = false;
    bool reproducible = false;
    scan_strategy strategy = scan_strategy::automatic;
    std::optional<std::pair<convention, convention>> convert;
    std::optional<std::int64_t> length;
    common_options common;

    bool segmented() const { return !segments.empty() || !by.empty(); }
};

/// Name, options and help of h5scan.
const app_description& description();

/// Throws error{invalid_argument}.
request read_request(const command_line& line);

}  // namespace lookback::apps::h5scan
