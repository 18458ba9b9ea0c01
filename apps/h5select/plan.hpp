// h5select: what will be read, decided and written, settled before any value is read.
// Invariant: a plan that was made can be carried out: columns have values that can be compared,
// masks and tables have as many rows, the memory is known.
#pragma once

#include "common/program.hpp"
#include "common/program_steps.hpp"
#include "h5select/request.hpp"
#include "io/table.hpp"

#include <lookback/context.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookback::apps::h5select {

/// A dataset that is read row by row to decide which rows are kept.
struct stream {
    io::dataset dataset;
    io::form form = io::form::stored;

    std::size_t row_bytes() const { return dataset.row_bytes(form); }
};

/// A value in each row of a stream.
struct stream_column {
    std::size_t stream = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    io::element_type type;
    bool swapped = false;  ///< as it lies in the stream
};

/// A dataset of the table that a stream reads as it is written.
struct shared_column {
    std::size_t stream = 0;
    std::size_t column = 0;
};

struct plan {
    io::table input;  ///< its datasets are written
    std::vector<stream> streams;
    std::vector<shared_column> shared;   ///< whose rows are held rather than decoded again
    std::uint64_t held_bytes = 0;        ///< of them, at most
    std::optional<program> condition;    ///< of --where and --mask
    std::vector<stream_column> columns;  ///< of the condition's inputs
    std::optional<program_steps> steps;  ///< of the condition, where a GPU evaluates it
    std::uint64_t device_rows = 0;       ///< of a batch that it gets
    std::optional<row_slice> slice;      ///< bounds within the rows
    std::vector<stream_column> unique;
    std::string output_path;
    std::string rest_path;
    std::string indices_path;        ///< empty = no row numbers are written
    std::uint64_t memory_bytes = 0;  ///< upper bound, the process and its buffers included

    std::uint64_t rows() const { return input.rows(); }
    std::uint64_t decision_bytes() const;  ///< of the streams
    std::uint64_t table_bytes() const;
};

/// Opens the input and decides. Throws error.
plan make_plan(const request& wanted, const context& context);

/// Throws error{out_of_memory} that states the need, where it is above the cap or the machine.
void require_memory(const plan& planned, const request& wanted);

/// "where x > 5, inverted, unique in day".
std::string condition_text(const request& wanted);
/// What --dry-run prints.
std::string plan_text(const plan& planned, const request& wanted, const context& context);

}  // namespace lookback::apps::h5select
