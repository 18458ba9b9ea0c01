// Level lib/io, private: references to objects and to regions of them, of one file, made to point
// into another.
// Invariant: a reference points to the same object's new path afterwards, or is a null reference
// and counted. A region of an object whose rows were moved is lost: it would select other rows.
#pragma once

#include "io/handle.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lookback::io {

inline constexpr std::string_view cannot_follow = "cannot follow its references";

/// Where an object of the source is in the target.
struct new_place {
    std::string path;
    bool rows_moved = false;  ///< it was made anew, with other rows
};
using path_change = std::function<new_place(const std::string&)>;

/// The paths of a file's objects by their addresses: one visit, however many references there are.
using object_paths = std::unordered_map<std::uint64_t, std::string>;
object_paths paths_of(const std::string& subject, const handle& object_of_file);

/// Calls `visit` for every reference in `count` items of a datatype that is not null, also inside
/// of compounds, arrays and sequences; it may change it. Returns how often `visit` returned true.
using reference_visitor = std::function<bool(std::byte* reference, bool is_object)>;
std::uint64_t visit_references(handle::id_type type, std::byte* items, std::size_t count,
                               const reference_visitor& visit);
/// True where items of a datatype may hold references.
bool may_refer(const handle& type);

class reference_mover {
public:
    /// `source` is any object of the source file; all are borrowed.
    reference_mover(const handle& source, const object_paths& paths, const handle& target,
                    path_change change);

    /// Rewrites `count` items of a datatype. Returns how many references are lost.
    std::uint64_t move(handle::id_type type, std::byte* items, std::size_t count);

private:
    bool move_object(std::byte* item);
    bool move_region(std::byte* item) const;
    const std::string* path_of(const void* reference, bool region) const;

    const handle& source_;
    const object_paths& paths_;
    const handle& target_;
    path_change change_;
    std::unordered_map<std::uint64_t, std::uint64_t> moved_;  // 0 = lost
};

}  // namespace lookback::io
