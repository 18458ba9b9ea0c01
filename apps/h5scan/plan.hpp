// h5scan: what will be read, scanned and written, decided before any value is read.
// Invariant: a plan that was made can be carried out: every column has an arithmetic type, segments
// are integers of one dimension, the memory is known.
#pragma once

#include "h5scan/request.hpp"
#include "io/table.hpp"

#include <lookback/context.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookback::apps::h5scan {

struct scanned_column {
    io::dataset source;
    data_type type;    ///< computed in
    bool keeps_type;   ///< else `type` is the output's type as well
    std::string path;  ///< in the output
};

struct plan {
    io::table input;
    std::vector<scanned_column> columns;
    std::optional<io::dataset> segments;
    std::optional<io::dataset> by;
    std::uint64_t memory_bytes = 0;  ///< upper bound, the process and its buffers included

    std::uint64_t rows() const { return input.rows(); }
    std::uint64_t bytes() const;  ///< of all columns, as computed
};

/// Opens the input and decides. Throws error.
plan make_plan(const request& wanted, const context& context);

/// Throws error{out_of_memory} that states the need, where it is above the cap or the machine.
void require_memory(const plan& planned, const request& wanted);

/// "inclusive sum by /day".
std::string work_text(const plan& planned, const request& wanted);
/// What --dry-run prints.
std::string plan_text(const plan& planned, const request& wanted);

}  // namespace lookback::apps::h5scan
