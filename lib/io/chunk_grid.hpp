// Level lib/io, private: where the chunks of a dataset lie in its rows.
// Invariant: chunks are numbered row-major; a band is all chunks that share their rows.
#pragma once

#include "io/dataset.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lookback::io {

class chunk_grid {
public:
    chunk_grid(const shape& shape, const std::vector<std::uint64_t>& chunk, std::size_t item_bytes);

    std::uint64_t band_rows() const noexcept { return chunk_[0]; }
    std::uint64_t chunks_per_band() const noexcept { return chunks_per_band_; }
    std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
    std::uint64_t row_bytes() const noexcept { return row_bytes_; }
    /// Offset of a chunk's first item, one number a dimension.
    std::vector<std::uint64_t> offset(std::uint64_t chunk) const;

    /// Rows [first, end) of a chunk that lie inside a range of rows and inside the dataset.
    struct row_range {
        std::uint64_t first, end;
    };
    row_range rows_of(std::uint64_t chunk, row_range wanted) const;

    /// True where these rows of a chunk are all of it, and neighbours in memory too.
    bool is_dense(row_range rows) const noexcept;
    /// Copies rows of a chunk to memory whose first row is `memory_first`, or back.
    void copy_out(std::uint64_t chunk, row_range rows, const std::byte* chunk_data,
                  std::byte* memory, std::uint64_t memory_first) const;
    void copy_in(std::uint64_t chunk, row_range rows, std::byte* chunk_data,
                 const std::byte* memory, std::uint64_t memory_first) const;
    /// True where the rows of the dataset leave part of the chunk unused.
    bool is_partial(std::uint64_t chunk) const;

private:
    template <class CopyRun>
    void for_each_run(std::uint64_t chunk, row_range rows, std::uint64_t memory_first,
                      const CopyRun& copy) const;

    std::vector<std::uint64_t> dims_;
    std::vector<std::uint64_t> chunk_;
    std::vector<std::uint64_t> counts_;         // chunks a dimension
    std::vector<std::uint64_t> chunk_strides_;  // bytes
    std::vector<std::uint64_t> row_strides_;    // bytes
    std::uint64_t chunks_per_band_ = 1;
    std::size_t chunk_bytes_ = 0;
    std::uint64_t row_bytes_ = 0;
    bool full_width_ = true;
};

}  // namespace lookback::io
