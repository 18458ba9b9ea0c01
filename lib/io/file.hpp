// Level lib/io: HDF5 files open for reading, and what is in them.
// Invariant: read-only; files that cannot be locked (read-only or network mounts) are read without
// a lock, files that are being written are refused.
#pragma once

#include "io/handle.hpp"

#include <string>
#include <vector>

namespace lookback::io {

class file {
public:
    /// Opens an HDF5 file for reading. Throws error{io_error} with one line that says what is
    /// wrong: missing, not HDF5, truncated, being written by another process.
    static file open(const std::string& path);

    const std::string& path() const noexcept { return path_; }
    const handle& id() const noexcept { return id_; }

private:
    friend class output_file;
    std::string path_;
    handle id_;
};

enum class object_kind { missing, group, dataset, named_type };

/// What the path names; missing also where a link on the way leads nowhere.
object_kind kind_of(const file& file, const std::string& path);

/// A link in a group.
struct child {
    std::string name;
    object_kind kind;  ///< missing = a link that leads nowhere
};

/// The links of a group: in the order of creation where the group keeps it, else by name.
std::vector<child> children(const file& file, const std::string& group);

/// The path of the file's only dataset or table (a group that holds datasets counts as one).
/// Throws error{invalid_argument} that lists what is there otherwise.
std::string find_only_table(const file& file);

/// Tells apart the open files that objects belong to.
unsigned long file_number(const std::string& subject, const handle& object);

/// "/a//b/" -> "/a/b"; "a" -> "/a"; "/./a" -> "/a"; "" -> "/".
std::string normal_path(const std::string& path);
/// The group that holds the object: "/a/b" -> "/a", "/a" -> "/".
std::string parent_path(const std::string& path);
/// "/a" + "b" -> "/a/b".
std::string join_path(const std::string& group, const std::string& name);

}  // namespace lookback::io
