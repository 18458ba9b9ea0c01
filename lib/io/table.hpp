// Level lib/io: a table: datasets whose rows move together.
// Invariant: every dataset of a table has the same number of rows.
#pragma once

#include "io/dataset.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookback::io {

enum class table_kind {
    group,     ///< a group; each dataset is a column
    compound,  ///< one 1-D compound dataset; each field is a column
    single,    ///< one dataset, the only column
};

/// Where a column's values are: a dataset of the table, and a field of it in compound rows.
struct column_place {
    std::size_t dataset = 0;
    std::optional<std::size_t> field;
};

class table {
public:
    /// Opens what `path` names as a table. `columns` selects and orders (a group's datasets, a
    /// compound's fields); empty = all. A pandas group with its `table` inside is that table.
    /// Throws error{invalid_argument}: unequal lengths (with the lengths), unknown columns (with
    /// the known ones); error{io_error} for what cannot be read.
    static table open(const file& file, const std::string& path,
                      const std::vector<std::string>& columns = {});

    table_kind kind() const noexcept { return kind_; }
    /// The group or dataset that was opened.
    const std::string& path() const noexcept { return path_; }
    const std::string& file_path() const noexcept { return file_.path(); }
    const io::file& source() const noexcept { return file_; }
    std::uint64_t rows() const noexcept { return rows_; }
    /// What is stored: a group's columns, or the one dataset.
    const std::vector<dataset>& datasets() const noexcept { return datasets_; }
    std::vector<std::string> column_names() const;
    /// Throws error{invalid_argument} that lists the columns.
    column_place find(const std::string& column) const;
    /// The type of the values at a place.
    const element_type& type(const column_place& place) const;
    /// Other objects of the group, which only `--copy-rest` carries over.
    const std::vector<child>& rest() const noexcept { return rest_; }

private:
    void open_group(const std::vector<std::string>& columns);
    void open_dataset(const std::vector<std::string>& columns);

    table_kind kind_ = table_kind::single;
    io::file file_;
    std::string path_;
    std::uint64_t rows_ = 0;
    std::vector<dataset> datasets_;
    std::vector<child> rest_;
};

/// Takes a field out of compound rows: `rows` rows of `row_bytes` bytes each, into `native` (one
/// field.type.key a row, the machine's byte order). Reads rows * row_bytes, on `threads` threads.
/// Throws error{invalid_argument} where the field has no exact key.
void extract_field(const field& field, const void* compound_rows, std::size_t row_bytes,
                   std::uint64_t rows, void* native, int threads = 1);

}  // namespace lookback::io
