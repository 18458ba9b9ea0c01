// Level lib/io: rows in batches, read ahead and written behind, for work that needs no whole
// column. Invariant: two batches of memory each; batches are whole chunks, in order. What fails in
// the background is thrown by the next call.
#pragma once

#include "io/transfer.hpp"

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>

namespace lookback::io {

/// Rows of one batch: whole chunks of about 8 MiB.
std::uint64_t batch_rows(const dataset& dataset, form form);

/// Reads a range of rows batch by batch; the next one is decoded while the caller works.
class row_reader {
public:
    struct batch {
        std::uint64_t first_row, rows;
        const std::byte* data;  ///< valid until the next call
    };

    /// Rows [first, first + rows). Throws error{invalid_argument} for rows outside.
    row_reader(dataset source, form form, std::uint64_t first, std::uint64_t rows,
               transfer_options options = {});
    row_reader(const row_reader&) = delete;
    row_reader& operator=(const row_reader&) = delete;
    ~row_reader();

    /// Nothing at the end. Throws error{io_error}.
    std::optional<batch> next();

private:
    void read_ahead();

    const dataset source_;
    const io::form form_;
    const transfer_options options_;
    std::uint64_t next_row_, end_, batch_rows_;
    batch pending_batch_{0, 0, nullptr};
    std::unique_ptr<std::byte[]> buffers_[2];
    std::size_t current_ = 0;
    std::future<void> pending_;  // last, so that it ends before what it uses
};

/// Writes the rows of a dataset that output_file made, in order; earlier ones are encoded and
/// written while the caller makes more.
class row_writer {
public:
    row_writer(dataset target, form form, transfer_options options = {});
    row_writer(const row_writer&) = delete;
    row_writer& operator=(const row_writer&) = delete;
    ~row_writer();

    /// Takes `rows` more rows. Throws error{invalid_argument} beyond the dataset's rows, and
    /// error{io_error} for earlier ones that could not be written.
    void append(const void* memory, std::uint64_t rows);
    /// Writes what is left and waits. Throws error{invalid_argument} where rows are missing.
    void finish();

private:
    void write_behind();

    const dataset target_;
    const io::form form_;
    const transfer_options options_;
    const std::uint64_t row_bytes_, batch_rows_;
    std::uint64_t first_row_ = 0, filled_rows_ = 0;  // of the current batch
    std::unique_ptr<std::byte[]> buffers_[2];
    std::size_t current_ = 0;
    std::future<void> pending_;
};

}  // namespace lookback::io
