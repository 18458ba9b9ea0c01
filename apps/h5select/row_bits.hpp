// h5select: which rows are kept, one bit a row, in order.
// Invariant: bits behind the last row are 0. Above a limit of memory they lie in a file without a
// name, so that memory does not grow with the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lookback::apps::h5select {

class row_bits {
public:
    static constexpr std::size_t usual_memory = std::size_t{32} << 20;  ///< of 2^28 rows

    /// `folder` is where the file would be.
    explicit row_bits(std::string folder, std::size_t memory_bytes = usual_memory);
    row_bits(const row_bits&) = delete;
    row_bits& operator=(const row_bits&) = delete;
    ~row_bits();

    /// Takes the bits of `rows` more rows: bit i % 64 of word i / 64; those behind are 0.
    void append(const std::uint64_t* words, std::uint64_t rows);

    std::uint64_t rows() const noexcept { return rows_; }
    std::uint64_t kept() const noexcept { return kept_; }

    /// The bits of rows [first, first + rows), from bit 0 of the first word on.
    std::vector<std::uint64_t> read(std::uint64_t first, std::uint64_t rows) const;
    std::uint64_t count(std::uint64_t first, std::uint64_t rows) const;

private:
    void spill();

    std::string folder_;
    std::size_t most_words_;
    std::vector<std::uint64_t> words_;  // those that are not in the file
    std::uint64_t words_in_file_ = 0;
    int file_ = -1;
    std::uint64_t rows_ = 0;
    std::uint64_t kept_ = 0;
};

}  // namespace lookback::apps::h5select
