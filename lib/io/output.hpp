// Level lib/io: atomic output.
// Invariant: everything is written into a file beside the target (same folder); the target changes
// only by the rename in commit(), after fsync. A failed or killed run leaves it as it was.
#pragma once

#include "io/dataset.hpp"
#include "io/table.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lookback::io {

struct output_options {
    bool overwrite = false;  ///< objects that exist are replaced
    bool truncate = false;   ///< the whole file is replaced
};

/// What differs from the source's storage.
struct storage_options {
    std::optional<std::vector<filter>> filters;  ///< given = exactly these, in this order
    std::optional<std::uint64_t> chunk_rows;     ///< rows of a chunk
    /// Another element type, little-endian; the fill value is converted, or dropped where the
    /// source is no number.
    std::optional<data_type> type;
};

class output_file {
public:
    /// Creates the file beside, a copy of the target where that exists (unless truncate).
    /// Throws error{io_error}: no such folder, not writable, target not HDF5.
    explicit output_file(const std::string& path, const output_options& options = {});
    output_file(output_file&&) noexcept;
    output_file& operator=(output_file&&) noexcept;
    /// Without commit() the file beside is removed.
    ~output_file();

    /// Throws error{invalid_argument} where the object exists and overwrite is off: call it before
    /// the work starts. create* do it too.
    void require_absent(const std::string& path) const;

    /// A dataset like `source` with `rows` rows: type, byte order, inner dimensions, attributes,
    /// chunks, filters, fill value and unlimited dimensions are kept. Missing groups are made.
    /// Empty results of fixed size drop chunks and filters; a scalar stays one with one row.
    dataset create_like(const dataset& source, const std::string& path, std::uint64_t rows,
                        const storage_options& storage = {});
    /// A new 1-D dataset, contiguous unless `storage` or `beside` (its chunk rows and filters) say
    /// otherwise.
    dataset create(const std::string& path, data_type type, std::uint64_t rows,
                   const storage_options& storage = {}, const dataset* beside = nullptr);
    /// Datasets like all of the table's, in its order, at `path` (a group or a dataset, as the
    /// table is), with the group's attributes. copy_rest: the other objects too, as they are.
    std::vector<dataset> create_table_like(const table& source, const std::string& path,
                                           std::uint64_t rows, const storage_options& storage = {},
                                           bool copy_rest = false);

    /// Copies a group with all below it, a dataset or a named type as it is.
    void copy(const file& source, const std::string& source_path, const std::string& path);
    /// Copies the attributes of one object to another that exists in this output.
    void copy_attributes(const file& source, const std::string& source_path,
                         const std::string& path);

    /// Flushes, closes, syncs and renames. Datasets of this output must not be used afterwards.
    void commit();

    /// What could not be carried over, one line each: references to objects that are not there,
    /// PyTables' indexes of tables that were replaced.
    const std::vector<std::string>& notices() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Removes this process's unfinished outputs. Async-signal-safe: for handlers of SIGINT, SIGTERM
/// and SIGHUP, which should then end the process.
void discard_unfinished_output() noexcept;

}  // namespace lookback::io
