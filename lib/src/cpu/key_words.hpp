// CPU backend: several key columns as few 64-bit words a row, compared one after the other.
// Invariant: words compare as the columns do. Bits that no row uses are cut off, so that several
// narrow columns fit one word; the bits of a word stand at its upper end, zeros below.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/key_column.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookback::cpu {

/// One word of every row.
class key_word {
public:
    /// Bits that may differ between rows, at the upper end.
    int bits() const { return bits_; }
    /// out[i] = the word of row first + i.
    void load(std::size_t first, std::size_t count, std::uint64_t* out) const;
    /// out[i] = the word of row rows[i]; Row is uint32, uint64 or int64.
    template <class Row>
    void load_at(const Row* rows, std::size_t count, std::uint64_t* out) const;

    /// The same word of keys that stand elsewhere; for words of one column.
    key_word at(const void* data, std::size_t stride_bytes) const;

    /// (number of the column - base) >> low has `bits` bits, of all rows.
    struct field {
        key_column column;
        std::uint64_t base;
        int low;
        int bits;
    };
    void append(const field& part);

private:
    template <class Load>
    void compose(std::size_t count, std::uint64_t* out, const Load& load) const;

    std::vector<field> fields_;
    int bits_ = 0;
};

/// The words of `rows` rows, the first word first; none where all rows are equal. Reads the first
/// columns once, to find the bits that they use.
std::vector<key_word> make_key_words(executor& executor, std::span<const key_column> columns,
                                     std::size_t rows);

}  // namespace lookback::cpu
