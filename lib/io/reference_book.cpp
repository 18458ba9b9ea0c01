#include "io/reference_book.hpp"

#include "io/element_type.hpp"
#include "io/hdf5_call.hpp"

#include <iterator>

#include <fmt/format.h>

namespace lookback::io {
namespace {

constexpr std::string_view cannot_follow = "cannot follow its references";

herr_t collect_object(hid_t, const char* name, const H5O_info_t*, void* out) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
}

// All objects at and below one, by their paths from there; "." is the object itself.
std::vector<std::string> object_names(const std::string& subject, const handle& root) {
    std::vector<std::string> names;
    checked(subject, "cannot list", [&] {
        return H5Ovisit2(root.id(), H5_INDEX_NAME, H5_ITER_INC, collect_object, &names,
                         H5O_INFO_BASIC);
    });
    return names;
}

handle open_object(const std::string& subject, const handle& from, const std::string& path) {
    return checked_handle(subject, cannot_follow,
                          [&] { return H5Oopen(from.id(), path.c_str(), H5P_DEFAULT); });
}

bool holds_references(const std::string& subject, const handle& object) {
    const auto lock = library_lock();
    if (H5Iget_type(object.id()) != H5I_DATASET) return false;
    return describe_type(
               checked_handle(subject, cannot_follow, [&] { return H5Dget_type(object.id()); }))
        .has_references;
}

}  // namespace

void reference_book::follow(const std::string& from, const std::string& to) {
    made_[from] = to;
}

void reference_book::follow_copy(const file& source, const std::string& from, const std::string& to,
                                 const std::string& subject, const handle& target_file) {
    copied_.emplace_back(from, to);
    const handle root = open_object(source.path() + ":" + from, source.id(), from);
    for (const std::string& name : object_names(source.path() + ":" + from, root)) {
        const std::string path = name == "." ? to : join_path(to, name);
        const handle original = open_object(subject, root, name);
        defer_references(subject, original, open_object(subject, target_file, path), path,
                         attributes_);
        if (holds_references(subject, original)) items_.push_back({original, "", path});
    }
}

void reference_book::add(std::vector<pending_attribute> attributes) {
    std::move(attributes.begin(), attributes.end(), std::back_inserter(attributes_));
}

std::string reference_book::new_path(const std::string& path) const {
    if (const auto made = made_.find(path); made != made_.end()) return made->second;
    for (const auto& [from, to] : copied_) {
        if (path == from) return to;
        if (path.starts_with(from + "/")) return to + path.substr(from.size());
    }
    return path;
}

std::vector<std::string> reference_book::set_all(const file& target) {
    const path_change change = [this](const std::string& path) { return new_path(path); };
    std::vector<std::string> left_out;
    for (const auto& items : items_) {
        const std::string name = target.path() + ":" + items.target_path;
        const handle copied = open_object(name, target.id(), items.target_path);
        if (copy_reference_items(name, items.source_object, copied, target.id(), change)) continue;
        left_out.push_back(
            fmt::format("{}: its references are empty, since they refer to objects "
                        "that are not in this file",
                        name));
    }
    for (const auto& attribute : attributes_) {
        if (kind_of(target, attribute.target_path) == object_kind::missing) continue;
        const std::string name = target.path() + ":" + attribute.target_path;
        if (copy_references(name, attribute, target.id(), change)) continue;
        left_out.push_back(
            fmt::format("{}: the attribute '{}' is left out, since it refers to "
                        "objects that are not in this file",
                        name, attribute.name));
    }
    clear();
    return left_out;
}

void reference_book::clear() {
    attributes_.clear();
    items_.clear();
}

}  // namespace lookback::io
