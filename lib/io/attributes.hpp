// Level lib/io, private: attributes from one object to another, maybe of another file.
// Invariant: type, dataspace (null ones too) and bytes are kept; references follow their objects'
// paths, and those that cannot are empty, or no longer in the lists of dimension scales.
#pragma once

#include "io/handle.hpp"
#include "io/reference_mover.hpp"

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

/// Prepares the properties of an object to be for attributes of more than 64 KiB, where the source
/// has such.
void make_room_for_attributes(const std::string& subject, const handle& source,
                              const handle& properties);

/// Copies all attributes but those with references, which are returned. `subject` is for messages.
std::vector<pending_attribute> copy_attributes(const std::string& subject, const handle& source,
                                               const handle& target,
                                               const std::string& target_path);

/// Removes from a copy the attributes with references, which HDF5 copies as they are, and appends
/// them to `pending`.
void defer_references(const std::string& subject, const handle& source, const handle& target,
                      const std::string& target_path, std::vector<pending_attribute>& pending);

/// Copies an attribute with references, moved into `target_file`. Copies nothing where all are
/// lost.
reference_mover::result copy_references(const std::string& subject,
                                        const pending_attribute& attribute,
                                        const handle& target_file, reference_mover& mover);

/// Calls `visit` for the references in an object's attributes, and stores what it changes: where it
/// returns true. What cannot be read stays as it is; `told` gets a line for it.
void update_references(const std::string& subject, const handle& object,
                       const reference_visitor& visit, std::vector<std::string>& told);

/// PyTables keeps the number of rows of a table as attribute NROWS too; sets it where it is.
void update_row_count(const std::string& subject, const handle& dataset, std::uint64_t rows);

}  // namespace lookback::io
