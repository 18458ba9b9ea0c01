#include "io/reference_book.hpp"

#include "io/hdf5_call.hpp"
#include "io/raw_access.hpp"
#include "io/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace lookback::io {
namespace {

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
// true are stored. With `unread`, rows that cannot be read stay as they are, and it says why.
void change_items(const dataset& from, const dataset& to,
                  const std::function<bool(std::byte* items, std::uint64_t count)>& change,
                  std::optional<std::string>* unread = nullptr) {
    const std::uint64_t row_bytes = to.row_bytes(form::stored);
    const std::uint64_t batch = std::min(rows_at_once(to, row_bytes), to.rows());
    std::vector<std::byte> memory(batch * row_bytes);
    transfer_options options;
    options.threads = 1;
    for (std::uint64_t row = 0; row < to.rows() && row_bytes > 0; row += batch) {
        const std::uint64_t rows = std::min(batch, to.rows() - row);
        const auto read = [&] { read_rows(from, row, rows, form::stored, memory.data(), options); };
        if (unread == nullptr) {
            read();
        } else if (auto why = why_not_read(read)) {
            *unread = std::move(why);
            continue;
        }
        if (change(memory.data(), rows * to.row_items())) {
            write_rows(to, row, rows, form::stored, memory.data(), options);
        }
        reclaim(to.type(), memory.data(), rows * to.row_items());
    }
}

// References to what took the place of what was replaced, 0 where nothing did.
std::map<std::uint64_t, hobj_ref_t> references_now(const file& target,
                                                   const std::map<std::uint64_t, std::string>& at) {
    std::map<std::uint64_t, hobj_ref_t> now;
    for (const auto& [address, path] : at) {
        hobj_ref_t reference = 0;
        if (kind_of(target, path) != object_kind::missing) {
            checked(target.path() + ":" + path, cannot_follow, [&, name = path.c_str()] {
                return H5Rcreate(&reference, target.id().id(), name, H5R_OBJECT, -1);
            });
        }
        now.emplace(address, reference);
    }
    return now;
}

std::string path_below(const std::string& path, const found_object& object) {
    return object.name == "." ? path : join_path(path, object.name);
}

}  // namespace

void reference_book::follow(const std::string& subject, const handle& source,
                            const std::string& to) {
    places_.emplace(io::place_of(subject, source), new_place{to, true});
}

void reference_book::follow_rows(const handle& source, const std::string& to) {
    items_.push_back({source, to, false});
}

void reference_book::follow_copy(const file& source, const std::string& from, const std::string& to,
                                 const std::string& subject, const handle& target_file) {
    const handle root = open_object(source.path() + ":" + from, source.id(), from);
    const unsigned long number = io::place_of(subject, root).first;
    for (const found_object& object : objects_below(source.path() + ":" + from, root)) {
        const std::string path = path_below(to, object);
        places_.emplace(object_place{number, object.address}, new_place{path, false});
        const handle original = open_object(subject, root, object.name);
        defer_references(subject, original, open_object(subject, target_file, path), path,
                         attributes_);
        if (holds_references(subject, original)) items_.push_back({original, path, true});
    }
}

void reference_book::replace(const std::string& subject, const handle& target,
                             const std::string& path) {
    // A group goes with all below; what has a name elsewhere as well lives on under that.
    const handle root = open_object(subject, target, path);
    for (const found_object& object : objects_freed_with(subject, root)) {
        replaced_.emplace(object.address, path_below(path, object));
    }
}

// References hold addresses, which HDF5 may give to other objects once they are free.
void reference_book::follow_replaced(const file& target, std::vector<std::string>& told) {
    const auto now = references_now(target, replaced_);
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
    // Whose references are still those of the source, by whatever name the walk finds them.
    std::set<std::uint64_t> pending;
    for (const auto& items : items_) {
        if (kind_of(target, items.target_path) != object_kind::dataset) continue;
        const handle made = open_object(target.path(), target.id(), items.target_path);
        pending.insert(io::place_of(target.path(), made).second);
    }
    std::vector<std::string> unread;
    for (const found_object& object : objects_below(target.path(), target.id())) {
        follow_replaced(target, object, pending.contains(object.address), visit, unread);
    }
    for (const std::string& why : unread) {
        told.push_back(why + "; what it refers to is left as it is, though it may be replaced");
    }
    if (lost == 0) return;
    told.push_back(
        fmt::format("{}: {} references to what was replaced are empty now, since other rows, "
                    "or nothing, took its place",
                    target.path(), lost));
}

void reference_book::follow_replaced(const file& target, const found_object& object,
                                     bool is_pending, const reference_visitor& visit,
                                     std::vector<std::string>& unread) {
    const std::string path = path_below("/", object);
    const std::string subject = target.path() + ":" + path;
    if (object.kind == object_kind::missing) {
        unread.push_back(subject + ": cannot be read");
        return;
    }
    handle opened;
    std::optional<dataset> holder;
    auto why = why_not_read([&] {
        opened = open_object(subject, target.id(), path);
        if (!is_pending && holds_references(subject, opened)) {
            holder = dataset::describe(opened, target.path(), path);
        }
    });
    if (opened) update_references(subject, opened, visit, unread);
    if (!why && holder) {
        const reference_map map(holder->type().type.id());
        change_items(
            *holder, *holder,
            [&](std::byte* items, std::uint64_t count) {
                return map.visit(items, count, visit) > 0;
            },
            &why);
    }
    if (why) unread.push_back(std::move(*why));
}

void reference_book::add(std::vector<pending_attribute> attributes) {
    std::move(attributes.begin(), attributes.end(), std::back_inserter(attributes_));
}

// An object may have been made twice (rows kept, and the rest): the one near the referrer is meant.
new_place reference_book::place_of(const object_place& object, const std::string& referrer) const {
    const auto [first, last] = places_.equal_range(object);
    if (first != last) {
        const auto nearness = [&](const new_place& place) {
            return std::pair(place.rows_moved, common_length(place.path, referrer));
        };
        return std::max_element(first, last,
                                [&](const auto& a, const auto& b) {
                                    return nearness(a.second) < nearness(b.second);
                                })
            ->second;
    }
    const auto paths = paths_.find(object.first);
    if (paths == paths_.end()) return {};
    const auto found = paths->second.find(object.second);
    return found == paths->second.end() ? new_place{} : new_place{found->second, false};
}

reference_mover reference_book::mover(const std::string& subject, const handle& source,
                                      const handle& target, const std::string& referrer) {
    const auto [paths, is_new] = paths_.try_emplace(file_number(subject, source));
    if (is_new) {
        const handle file =
            checked_handle(subject, cannot_follow, [&] { return H5Iget_file_id(source.id()); });
        for (const found_object& object : objects_below(subject, file)) {
            paths->second.emplace(object.address, path_below("/", object));
        }
    }
    return {source, target,
            [this, referrer](const object_place& object) { return place_of(object, referrer); }};
}

void reference_book::set_items(const file& target, std::vector<std::string>& told) {
    for (const auto& items : items_) {
        if (kind_of(target, items.target_path) != object_kind::dataset) continue;
        const dataset made = dataset::open(target, items.target_path);
        const dataset from =
            items.copied ? dataset::describe(items.source, target.path(), items.target_path) : made;
        reference_mover moving =
            mover(made.address(), items.source, target.id(), items.target_path);
        const reference_map map(made.type().type.id());
        std::uint64_t lost = 0;
        change_items(from, made, [&](std::byte* references, std::uint64_t count) {
            lost += moving.move(map, references, count).lost;
            return true;
        });
        if (lost == 0) continue;
        told.push_back(
            fmt::format("{}: {} of its references are empty now, since what they "
                        "refer to is not in this file, or has other rows",
                        made.address(), lost));
    }
}

void reference_book::set_attributes(const file& target, std::vector<std::string>& told) {
    for (const auto& attribute : attributes_) {
        if (kind_of(target, attribute.target_path) == object_kind::missing) continue;
        const std::string name = target.path() + ":" + attribute.target_path;
        reference_mover moving =
            mover(name, attribute.source_object, target.id(), attribute.target_path);
        const auto [kept, lost] = copy_references(name, attribute, target.id(), moving);
        if (lost == 0) continue;
        const std::string part =
            kept == 0 ? "is left out" : fmt::format("has lost {} of its references", lost);
        told.push_back(
            fmt::format("{}: the attribute '{}' {}, since what {} to is not in "
                        "this file, or has other rows",
                        name, attribute.name, part, kept == 0 ? "it refers" : "they refer"));
    }
}

std::vector<std::string> reference_book::set_all(const file& target) {
    std::vector<std::string> told;
    if (!replaced_.empty()) follow_replaced(target, told);
    set_items(target, told);
    set_attributes(target, told);
    clear();
    return told;
}

void reference_book::clear() {
    replaced_.clear();
    places_.clear();
    attributes_.clear();
    items_.clear();
    paths_.clear();
}

}  // namespace lookback::io
