// h5sort: key columns in memory, in the form in which they are compared.
#pragma once

#include "common/columns.hpp"
#include "h5sort/plan.hpp"

#include <lookback/buffer.hpp>
#include <lookback/radix_sort.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace lookback::apps::h5sort {

/// All keys of `rows` rows; memory order is that of plan.keys.
class key_values {
public:
    key_values(const plan& planned, const context& context, std::uint64_t rows);

    /// Reads the keys of all inputs. Where `rows` holds the table's rows, fields come from there.
    void load(const held_column* rows, const io::transfer_options& options);
    /// Reads rows [first, first + count) of one input to row `at`.
    void load_rows(std::size_t input, std::uint64_t first, std::uint64_t count, std::uint64_t at,
                   const io::transfer_options& options);
    /// Copies one row onto another.
    void move_row(std::uint64_t from, std::uint64_t to);

    /// The keys as the library takes them, from row `first` on.
    std::vector<sort_key> sort_keys(std::uint64_t first = 0) const;
    std::byte* data(std::size_t key) const { return columns_[key].data(); }
    void release(std::size_t key) { columns_[key] = {}; }

private:
    void load_fields(const io::dataset& part, std::size_t input, std::uint64_t first,
                     std::uint64_t count, std::uint64_t at, const io::transfer_options& options);

    const plan& plan_;
    const context& context_;
    std::vector<buffer<std::byte>> columns_;
};

/// "time 3, energy 2.5" for a row of the plan's keys.
std::string row_text(const plan& planned, const std::vector<sort_key>& keys, std::uint64_t row);

/// A value as people read it: numbers in full precision, strings without their padding.
std::string value_text(const sort_key& key, std::uint64_t row);

}  // namespace lookback::apps::h5sort
