// h5sort: what the command line asks for.
// Invariant: options that exclude each other are refused here, before any file is opened.
#pragma once

#include "common/address.hpp"
#include "common/options.hpp"
#include "common/output_options.hpp"

#include <lookback/radix_sort.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lookback::apps::h5sort {

/// One -k; an empty name stands for the values of the one dataset.
struct key_request {
    std::string name;
    sort_order order;
};

enum class check_mode { off, tell, quiet };

struct request {
    std::vector<address> inputs;  ///< one, or with merge one or more
    output_request output;
    std::vector<key_request> keys;
    sort_order values_order;  ///< where no key is given
    bool unique = false;
    check_mode check = check_mode::off;
    bool merge = false;
    std::string index;  ///< name of the permutation, empty = none
    bool index_only = false;
    std::optional<std::uint64_t> head;
    std::string segments;  ///< as typed
    std::vector<std::string> columns;
    bool copy_rest = false;
    common_options common;
};

/// Name, options and help of h5sort.
const app_description& description();

/// Throws error{invalid_argument}.
request read_request(const command_line& line);

/// "energy:desc:nan-first" as a name and an order; `reverse` is the direction without a suffix.
key_request parse_key(std::string_view text, bool reverse);

}  // namespace lookback::apps::h5sort
