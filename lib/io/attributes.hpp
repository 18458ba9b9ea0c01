// Level lib/io, private: attributes from one object to another, maybe of another file.
// Invariant: type, dataspace (null ones too) and bytes are kept; references follow their objects'
// paths, or the attribute is left out with a notice.
#pragma once

#include "io/handle.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace lookback::io {

/// Attributes with references, which can be set only when all objects are there.
struct pending_attribute {
    handle source_object;
    std::string name;
    std::string target_path;
};

/// Copies all attributes but those with references, which are returned. `subject` is for messages.
std::vector<pending_attribute> copy_attributes(const std::string& subject, const handle& source,
                                               const handle& target,
                                               const std::string& target_path);

/// Copies an attribute with references, each made to point to the object of the same path in
/// `target_file`. Returns false, and copies nothing, where one points to nothing there or is no
/// object reference.
bool copy_references(const std::string& subject, const pending_attribute& attribute,
                     const handle& target_file);

/// PyTables keeps the number of rows of a table as attribute NROWS too; sets it where it is.
void update_row_count(const std::string& subject, const handle& dataset, std::uint64_t rows);

}  // namespace lookback::io
