// Level lib/io, private: references to objects and to regions of them, of one file, made to point
// into another.
// Invariant: a reference points to the same object's new path afterwards, or is a null reference
// and counted. A region of an object whose rows were moved is lost: it would select other rows.
#pragma once

#include "io/handle.hpp"
#include "io/object_walk.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lookback::io {

inline constexpr std::string_view cannot_follow = "cannot follow its references";

/// Where an object of the source is in the target.
struct new_place {
    std::string path;         ///< empty: nowhere
    bool rows_moved = false;  ///< it was made anew, with other rows
};
using place_change = std::function<new_place(const object_place&)>;

/// May change the reference that it is given.
using reference_visitor = std::function<bool(std::byte* reference, bool is_object)>;

/// Where references lie in the items of a datatype, found once, however many items there are.
class reference_map {
public:
    explicit reference_map(handle::id_type type);

    /// Calls `visit` for every reference in `count` items that is not null, also inside of
    /// compounds, arrays and sequences. Returns how often it returned true.
    std::uint64_t visit(std::byte* items, std::size_t count, const reference_visitor& visit) const;

private:
    enum class kind { object, region, array, sequence };
    struct spot {
        kind what;
        std::size_t offset;
        std::size_t count;                 ///< items of an array
        std::vector<reference_map> inner;  ///< one, of arrays and sequences
    };
    void add(handle::id_type type, std::size_t offset);

    std::size_t bytes_;
    std::vector<spot> spots_;
};

/// True where items of a datatype may hold references.
bool may_refer(const handle& type);

class reference_mover {
public:
    /// `source` is any object of the source file; both are borrowed.
    reference_mover(const handle& source, const handle& target, place_change change);

    struct result {
        std::uint64_t kept = 0, lost = 0;
    };
    /// Rewrites the references in `count` items.
    result move(const reference_map& map, std::byte* items, std::size_t count);

private:
    bool move_object(std::byte* item);
    bool move_region(std::byte* item) const;
    new_place place_now(const void* reference, bool region) const;

    const handle& source_;
    const handle& target_;
    place_change change_;
    std::unordered_map<std::uint64_t, std::uint64_t> moved_;  // 0 = lost
};

}  // namespace lookback::io
