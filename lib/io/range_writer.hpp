// Level lib/io: the rows of one dataset written as they come, in ranges, from several threads.
// Invariant: the file is the one that write() makes. A chunk is encoded by the thread that brings
// its last row, and written when all before it are: so ranges should come in about rising order.
#pragma once

#include "io/transfer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lookback::io {

class range_writer {
public:
    /// Whether ranges of this dataset can be written by themselves: contiguous, or in chunks of a
    /// few MiB at most whose filters are coded here.
    static bool suits(const dataset& target, form form);

    /// `target` is as output_file made it, and suits.
    range_writer(const dataset& target, form form, const transfer_options& options = {});
    range_writer(const range_writer&) = delete;
    range_writer& operator=(const range_writer&) = delete;
    ~range_writer();

    /// Rows [first, first + rows), each once, of any length. Chunks wait for the first row that is
    /// missing while there are few of them, then this call does; the thread that brings that row
    /// never waits. Throws error{io_error}, here and in all other threads.
    void write(std::uint64_t first, std::uint64_t rows, const void* memory);
    /// Throws error{invalid_argument} where rows are missing.
    void finish();

private:
    class route;
    class contiguous_route;
    class chunk_route;
    std::unique_ptr<route> route_;
};

}  // namespace lookback::io
