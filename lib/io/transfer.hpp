// Level lib/io: whole columns between files and memory, in parallel.
// Invariant: contiguous data move by pread/pwrite, chunks of gzip, shuffle and fletcher32 are coded
// in threads, everything else goes through H5Dread/H5Dwrite. HDF5 itself runs on one thread at a
// time. An exception or a stop request in any stage ends all of them before the call returns.
#pragma once

#include "io/dataset.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

namespace lookback::io {

enum class stage { read, decode, work, encode, write };
constexpr std::size_t stage_count = 5;

/// What progress bars and reports read, while the transfer runs. Seconds are summed over threads.
struct stage_counter {
    std::atomic<std::uint64_t> bytes = 0;
    std::atomic<std::uint64_t> nanoseconds = 0;
};

struct transfer_counters {
    std::array<stage_counter, stage_count> stages;
    /// Uncompressed bytes that arrived in memory, and that were written: for the progress bar.
    std::atomic<std::uint64_t> bytes_in = 0, bytes_out = 0;

    stage_counter& operator[](stage stage) { return stages[static_cast<std::size_t>(stage)]; }
};

struct transfer_options {
    int threads = 0;                        ///< 0 = every core this process may use
    transfer_counters* counters = nullptr;  ///< borrowed
    std::stop_token stop;                   ///< a request ends the transfer with error{io_error}
    /// Reads only: whether any of the rows [first, end) matter. Chunks and slices of which none
    /// does are not read, and their memory is left as it was. Called from several threads; null =
    /// all.
    std::function<bool(std::uint64_t first, std::uint64_t end)> wanted = {};
};

/// Reads rows [first, first + rows) into `memory`: rows * dataset.row_bytes(form) bytes.
/// Extra memory: two chunks a thread. Throws error{io_error}.
void read_rows(const dataset& source, std::uint64_t first, std::uint64_t rows, form form,
               void* memory, const transfer_options& options = {});
/// Reads all rows.
void read(const dataset& source, form form, void* memory, const transfer_options& options = {});

/// Fills `rows` rows from `first_row` on at `into`. Called from several threads at once, for
/// disjoint rows, in no order. What it throws ends the transfer and is rethrown.
using row_producer =
    std::function<void(std::uint64_t first_row, std::uint64_t rows, std::byte* into)>;

/// Writes all rows of a dataset that output_file made, from memory.
void write(const dataset& target, form form, const void* memory,
           const transfer_options& options = {});
/// Writes rows [first, first + rows): whole chunks, but for the dataset's last rows. Throws
/// error{invalid_argument} otherwise.
void write_rows(const dataset& target, std::uint64_t first, std::uint64_t rows, form form,
                const void* memory, const transfer_options& options = {});
/// All rows, each batch made by `produce` while others are encoded and written.
void write(const dataset& target, form form, const row_producer& produce,
           const transfer_options& options = {});

}  // namespace lookback::io
