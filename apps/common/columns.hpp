// Apps: columns held in memory, and the ways between them and datasets.
// Invariant: what variable-length items point to is given back with the column.
#pragma once

#include "io/dataset.hpp"
#include "io/transfer.hpp"

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lookback::apps {

/// Rows of one dataset, or of several that follow each other, in one form.
class held_column {
public:
    held_column() = default;
    /// Room for `rows` rows like those of `like`. Throws error{out_of_memory}.
    held_column(const context& context, const io::dataset& like, io::form form, std::uint64_t rows);
    held_column(held_column&& other) noexcept { swap(other); }
    held_column& operator=(held_column&& other) noexcept {
        held_column(std::move(other)).swap(*this);
        return *this;
    }
    ~held_column();

    /// Reads all rows of `part` behind those that are here.
    void append(const io::dataset& part, const io::transfer_options& options);
    std::byte* data() const noexcept { return memory_.data(); }
    std::size_t row_bytes() const noexcept { return row_bytes_; }
    std::uint64_t rows() const noexcept { return rows_; }
    io::form form() const noexcept { return form_; }

private:
    void swap(held_column& other) noexcept;

    buffer<std::byte> memory_;
    io::element_type type_;
    io::form form_ = io::form::stored;
    std::size_t row_bytes_ = 0;
    std::uint64_t row_items_ = 0;
    std::uint64_t rows_ = 0;
};

/// Writes target row i from row index[i] of the `count` rows of `row_bytes` bytes at `rows`; target
/// has index.size() rows. The gather runs in the threads that encode. Index is uint32 or int64.
template <class Index>
void write_gathered(const io::dataset& target, const std::byte* rows, std::uint64_t count,
                    std::size_t row_bytes, io::form form, std::span<const Index> index,
                    const io::transfer_options& options);

/// Writes an index as int64.
template <class Index>
void write_index(const io::dataset& target, std::span<const Index> index,
                 const io::transfer_options& options);

/// Takes a key out of rows, as io::extract_field does, and fixed strings too: `rows` rows at
/// `stored`, of `row_bytes` bytes each, into `out`.
void extract_key(const io::field& field, const std::byte* stored, std::size_t row_bytes,
                 std::uint64_t rows, std::byte* out, int threads);

/// How many rows of this dataset make a batch of about `bytes` bytes: whole chunks, at least one.
std::uint64_t batch_rows(const io::dataset& source, std::uint64_t bytes);

}  // namespace lookback::apps
