// Level lib/io, private: the objects of a file or of a part of it.
// Invariant: hard links alone are followed, and every object is given once at most.
#pragma once

#include "io/file.hpp"
#include "io/handle.hpp"
#include "io/hdf5_call.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lookback::io {

/// What tells an object from others, whatever links lead to it: the number of its open file, and
/// its address in that.
using object_place = std::pair<unsigned long, std::uint64_t>;
object_place place_of(const std::string& subject, const handle& object);

object_kind kind_of_type(H5O_type_t type);

struct found_object {
    std::string name;  ///< from where the walk began: "a/b"; "." is where it began
    std::uint64_t address = 0;
    object_kind kind = object_kind::missing;  ///< missing: it cannot be read
    unsigned links = 0;                       ///< that lead to it
    unsigned met = 0;                         ///< of these, in the walk so far
};

/// All objects at and below one, groups before what is in them, by the first of their names; what
/// cannot be read is given too, and what stands behind it is not. Throws error{io_error} where the
/// first cannot be read.
std::vector<found_object> objects_below(const std::string& subject, const handle& root);

/// Those of them that HDF5 frees with the link by which the first was opened: all links that lead
/// to them come from what is freed, too.
std::vector<found_object> objects_freed_with(const std::string& subject, const handle& root);

}  // namespace lookback::io
