#include "io/reference_book.hpp"

#include "io/hdf5_call.hpp"
#include "io/raw_access.hpp"
#include "io/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace lookback::io {
namespace {

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
    return may_refer(
        checked_handle(subject, cannot_follow, [&] { return H5Dget_type(object.id()); }));
}

std::size_t common_length(const std::string& a, const std::string& b) {
    const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    return static_cast<std::size_t>(end - a.begin());
}

// The address of the dataset that a region lies in; nothing where it cannot be opened.
std::optional<std::uint64_t> address_of_region(const handle& file, const std::byte* reference) {
    const auto lock = library_lock();
    const handle object(H5Rdereference2(file.id(), H5P_DEFAULT, H5R_DATASET_REGION, reference));
    H5O_info_t info;
    const bool there = object && H5Oget_info2(object.id(), &info, H5O_INFO_BASIC) >= 0;
    take_error_lines();
    return there ? std::optional<std::uint64_t>(info.addr) : std::nullopt;
}

// Passes the items of a dataset through `change`, a batch at a time; those for which it returns
// true are stored.
void change_items(const dataset& from, const dataset& to,
                  const std::function<bool(std::byte* items, std::uint64_t count)>& change) {
    const std::uint64_t row_bytes = to.row_bytes(form::stored);
    const std::uint64_t batch = std::min(rows_at_once(to, row_bytes), to.rows());
    std::vector<std::byte> memory(batch * row_bytes);
    transfer_options options;
    options.threads = 1;
    for (std::uint64_t row = 0; row < to.rows() && row_bytes > 0; row += batch) {
        const std::uint64_t rows = std::min(batch, to.rows() - row);
        read_rows(from, row, rows, form::stored, memory.data(), options);
        if (change(memory.data(), rows * to.row_items())) {
            write_rows(to, row, rows, form::stored, memory.data(), options);
        }
        reclaim(to.type(), memory.data(), rows * to.row_items());
    }
}

}  // namespace

void reference_book::follow(const std::string& from, const std::string& to) {
    made_.emplace(from, to);
}

void reference_book::follow_rows(const handle& source, const std::string& to) {
    items_.push_back({source, to, false});
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
        if (holds_references(subject, original)) items_.push_back({original, path, true});
    }
}

void reference_book::replace(const std::string& subject, const handle& target,
                             const std::string& path) {
    const handle object = open_object(subject, target, path);
    for (const std::string& name : object_names(subject, object)) {  // a group goes with all below
        const handle gone = open_object(subject, object, name);
        H5O_info_t info;
        checked(subject, cannot_follow,
                [&] { return H5Oget_info2(gone.id(), &info, H5O_INFO_BASIC); });
        if (info.rc != 1) continue;  // it lives on under another name
        replaced_.emplace(info.addr, name == "." ? path : join_path(path, name));
    }
}

// References hold addresses, which HDF5 may give to other objects once they are free.
std::uint64_t reference_book::follow_replaced(const file& target) {
    std::map<std::uint64_t, hobj_ref_t> now;
    for (const auto& [address, path] : replaced_) {
        hobj_ref_t reference = 0;
        if (kind_of(target, path) != object_kind::missing) {
            checked(target.path() + ":" + path, cannot_follow, [&] {
                return H5Rcreate(&reference, target.id().id(), path.c_str(), H5R_OBJECT, -1);
            });
        }
        now.emplace(address, reference);
    }
    std::uint64_t lost = 0;
    const reference_visitor visit = [&](std::byte* item, bool is_object) {
        if (!is_object) {
            const auto address = address_of_region(target.id(), item);
            if (address && !now.contains(*address)) return false;
            std::memset(item, 0, sizeof(hdset_reg_ref_t));  // its rows are gone
            ++lost;
            return true;
        }
        hobj_ref_t reference = 0;
        std::memcpy(&reference, item, sizeof(reference));
        const auto found = now.find(reference);
        if (found == now.end()) return false;
        std::memcpy(item, &found->second, sizeof(reference));
        if (found->second == 0) ++lost;
        return true;
    };
    for (const std::string& name : object_names(target.path(), target.id())) {
        const std::string path = name == "." ? "/" : "/" + name;
        const std::string subject = target.path() + ":" + path;
        const handle object = open_object(subject, target.id(), path);
        update_references(subject, object, visit);
        if (!holds_references(subject, object)) continue;
        follow_replaced(dataset::describe(object, target.path(), path), visit);
    }
    return lost;
}

void reference_book::follow_replaced(const dataset& holder, const reference_visitor& visit) const {
    const bool pending = std::any_of(items_.begin(), items_.end(), [&](const auto& items) {
        return items.target_path == holder.path();
    });
    if (pending) return;  // its references are still those of the source
    change_items(holder, holder, [&](std::byte* items, std::uint64_t count) {
        return visit_references(holder.type().type.id(), items, count, visit) > 0;
    });
}

void reference_book::add(std::vector<pending_attribute> attributes) {
    std::move(attributes.begin(), attributes.end(), std::back_inserter(attributes_));
}

// An object may have been made twice (rows kept, and the rest): the one near the referrer is meant.
new_place reference_book::place_of(const std::string& path, const std::string& referrer) const {
    const auto [first, last] = made_.equal_range(path);
    if (first != last) {
        const auto near = std::max_element(first, last, [&](const auto& a, const auto& b) {
            return common_length(a.second, referrer) < common_length(b.second, referrer);
        });
        return {near->second, true};
    }
    for (const auto& [from, to] : copied_) {
        if (path == from) return {to, false};
        if (path.starts_with(from + "/")) return {to + path.substr(from.size()), false};
    }
    return {path, false};
}

reference_mover reference_book::mover(const std::string& subject, const handle& source,
                                      const handle& target, const std::string& referrer) {
    const auto [paths, is_new] = paths_.try_emplace(file_number(subject, source));
    if (is_new) paths->second = paths_of(subject, source);
    return {source, paths->second, target,
            [this, referrer](const std::string& path) { return place_of(path, referrer); }};
}

std::vector<std::string> reference_book::set_all(const file& target) {
    std::vector<std::string> left_out;
    if (const std::uint64_t lost = replaced_.empty() ? 0 : follow_replaced(target); lost != 0) {
        left_out.push_back(
            fmt::format("{}: {} references to what was replaced are empty now, since other rows, "
                        "or nothing, took its place",
                        target.path(), lost));
    }
    for (const auto& items : items_) {
        if (kind_of(target, items.target_path) != object_kind::dataset) continue;
        const dataset made = dataset::open(target, items.target_path);
        const dataset from =
            items.copied ? dataset::describe(items.source, target.path(), items.target_path) : made;
        reference_mover moving =
            mover(made.address(), items.source, target.id(), items.target_path);
        std::uint64_t lost = 0;
        change_items(from, made, [&](std::byte* references, std::uint64_t count) {
            lost += moving.move(made.type().type.id(), references, count);
            return true;
        });
        if (lost == 0) continue;
        left_out.push_back(
            fmt::format("{}: {} of its references are empty now, since what they "
                        "refer to is not in this file, or has other rows",
                        made.address(), lost));
    }
    for (const auto& attribute : attributes_) {
        if (kind_of(target, attribute.target_path) == object_kind::missing) continue;
        const std::string name = target.path() + ":" + attribute.target_path;
        reference_mover moving =
            mover(name, attribute.source_object, target.id(), attribute.target_path);
        if (copy_references(name, attribute, target.id(), moving)) continue;
        left_out.push_back(
            fmt::format("{}: the attribute '{}' is left out, since what it refers to is not in "
                        "this file, or has other rows",
                        name, attribute.name));
    }
    clear();
    return left_out;
}

void reference_book::clear() {
    replaced_.clear();
    attributes_.clear();
    items_.clear();
    paths_.clear();
}

}  // namespace lookback::io
