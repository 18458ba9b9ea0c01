// h5sort: what will be read, sorted and written, decided before any value is read.
// Invariant: a plan that was made can be carried out: keys have an order, inputs agree, memory is
// known.
#pragma once

#include "h5sort/request.hpp"
#include "io/table.hpp"

#include <lookback/context.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookback::apps::h5sort {

/// One sort key and where it lies.
struct key_column {
    std::string name;  ///< as messages show it
    sort_order order;
    std::vector<io::dataset> parts;     ///< one an input
    std::optional<std::size_t> column;  ///< the dataset of the table that holds it; none: key only
    std::optional<io::field> field;     ///< inside that dataset's stored row
    io::element_type type;

    bool is_string() const { return type.kind == io::element_kind::fixed_string; }
    /// How the key is read where it is a column of its own.
    io::form form() const { return is_string() ? io::form::stored : io::form::native; }
    std::size_t bytes() const { return type.item_bytes(form()); }
    /// Of a key that is no string.
    data_type number() const { return type.key.value_or(data_type::u8); }
    /// With strategy::pairs, the dataset that moves with the key: its own rows, or the other
    /// column.
    std::size_t payload() const { return field ? 0 : 1 - column.value_or(0); }
    /// A column of its own whose memory can be written as it is.
    bool is_column() const { return column && !field && (is_string() || type.exact); }
};

enum class strategy {
    keys,   ///< one dataset, sorted in place
    pairs,  ///< one key and one narrow payload, moved together
    index,  ///< keys give an index; columns follow it one after the other
};

struct plan {
    std::vector<io::table> inputs;
    std::vector<key_column> keys;
    strategy how = strategy::index;
    std::uint64_t rows = 0;  ///< in all inputs
    bool streamed = false;   ///< strategy::keys: sorted on the way from the input to the output
    bool hold_rows = false;  ///< compound rows stay in memory while their keys are sorted
    std::optional<io::dataset> segments;  ///< offsets
    std::string output_path;              ///< the table's path in the output
    std::string index_path;               ///< empty = no permutation is written
    std::uint64_t memory_bytes = 0;       ///< upper bound, the process and its buffers included
    std::uint64_t device_bytes = 0;       ///< of a GPU's memory, about; 0 on the CPU

    const io::table& first() const { return inputs.front(); }
    /// Wider than 32 bits would be: rows do not fit.
    bool wide_index() const { return rows > (std::uint64_t{1} << 32); }
    std::uint64_t index_bytes() const { return rows * (wide_index() ? 8 : 4); }
    std::uint64_t key_bytes() const;
    /// Rows that are read together.
    std::size_t block() const;
    /// Of the table's column c, in all inputs, in stored form.
    std::uint64_t column_bytes(std::size_t c) const;
    std::uint64_t table_bytes() const;
};

/// Opens the inputs and decides for a sort by `work` beside `host`, which may be the same. Throws
/// error.
plan make_plan(const request& wanted, const context& host, const context& work);

/// Why a sort by this GPU cannot be carried out, or nothing.
std::string device_obstacle(const plan& planned, const context& work);

/// Throws error{out_of_memory} that states the need, where it is above the cap or the machine.
void require_memory(const plan& planned, const request& wanted);

/// "sort by time, then energy descending".
std::string order_text(const plan& planned);
std::string_view name_of(strategy how);

/// What --dry-run prints.
std::string plan_text(const plan& planned, const request& wanted, const context& context);

}  // namespace lookback::apps::h5sort
