// Public API: the rows of a table in which a condition holds, found on a GPU batch by batch, while
// the host reads the next batch. Invariant: the marks depend on the values alone, not on how rows
// are cut into batches; they are those that the CPU computes by the same definitions.
#pragma once

#include <lookback/context.hpp>
#include <lookback/kernels/core/row_steps.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace lookback {

/// A condition over columns of numbers, as a GPU runs it. What it names is in host memory.
struct row_condition {
    std::span<const core::row_step> steps;
    std::span<const core::row_constant> constants;
    std::span<const core::stored_type> columns;  ///< how each column is stored
    core::row_operand result;                    ///< of type boolean
    int value_slots = 0;                         ///< that the steps use
};

/// How a condition runs: step by step, or as range tests of columns and a table of their answers,
/// which takes what a copy of the columns takes.
enum class row_strategy : std::uint8_t {
    automatic,  ///< terms where they say the same
    steps,
    terms,  ///< comparisons of columns with constants, joined in any way: core/find_terms.hpp
};

/// What automatic comes to for a condition that names nothing that is not there.
row_strategy strategy_of(const row_condition& condition);

/// What became of a batch. All of it is valid until take() returns.
struct row_batch {
    std::size_t first;  ///< number of its first row
    std::size_t rows;
    /// Bit i % 64 of word i / 64: whether the condition holds in row first + i; bits behind the
    /// last row are 0. With `fault` they mean nothing.
    std::span<const std::uint64_t> words;
    bool fault;  ///< in some row a step that is checked has no result
    std::span<const std::byte* const> columns;  ///< the values, as read() gave them
    row_strategy strategy;                      ///< that marked them
};

struct row_stream {
    row_condition condition;
    std::size_t rows = 0;
    std::size_t batch_rows = std::size_t{1} << 20;  ///< most that are read at a time
    /// Whether a batch is read before the marks of the one before it are taken. Without, nothing
    /// overlaps: for callers whose read() gives up what their take() still needs.
    bool ahead = true;
    row_strategy strategy = row_strategy::automatic;

    /// Fills columns[c] with the values of rows [first, first + n) for some n in [1, most], one
    /// behind the other in this machine's byte order, and returns n. Batches come in order, each
    /// once.
    std::function<std::size_t(std::size_t first, std::size_t most,
                              std::span<std::byte* const> columns)>
        read;
    /// Takes the marks of batches, in order. Called by the same thread as read().
    std::function<void(const row_batch&)> take;
};

/// Marks all rows. Traffic: every value read once from host memory, a bit a row brought back.
/// Determinism: the same marks in every run. Stream: the context's; copies of one batch and the
/// work on it overlap with read() of the next. Waits for all. Extra memory: as below. What read()
/// and take() throw ends it and is thrown on.
/// Throws error{invalid_argument} for a context of the CPU, a condition that names what is not
/// there or comes to no terms where they are asked for, and a read() that gives no rows or too
/// many; error{out_of_memory}.
void mark_rows(const context& context, const row_stream& stream);

/// The device memory that mark_rows() takes, and the pinned memory of the host, at most.
std::size_t mark_rows_memory(const row_condition& condition, std::size_t batch_rows);
std::size_t mark_rows_host_memory(const row_condition& condition, std::size_t batch_rows);

}  // namespace lookback
