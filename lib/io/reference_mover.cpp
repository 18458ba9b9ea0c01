#include "io/reference_mover.hpp"

#include "io/hdf5_call.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lookback::io {
namespace {

herr_t collect_path(hid_t, const char* name, const H5O_info_t* info, void* out) {
    const std::string path = name;
    static_cast<object_paths*>(out)->emplace(info->addr, path == "." ? "/" : "/" + path);
    return 0;
}

bool is_null(const std::byte* item, std::size_t bytes) {
    return std::all_of(item, item + bytes, [](std::byte b) { return b == std::byte{0}; });
}

std::uint64_t visit_item(hid_t type, std::byte* item, const reference_visitor& visit) {
    switch (H5Tget_class(type)) {
        case H5T_REFERENCE: {
            if (is_null(item, H5Tget_size(type))) return 0;
            return visit(item, H5Tequal(type, H5T_STD_REF_OBJ) > 0) ? 1 : 0;
        }
        case H5T_COMPOUND: {
            std::uint64_t sum = 0;
            const int members = H5Tget_nmembers(type);
            for (unsigned m = 0; m < static_cast<unsigned>(members); ++m) {
                const handle member(H5Tget_member_type(type, m));
                sum += visit_item(member.id(), item + H5Tget_member_offset(type, m), visit);
            }
            return sum;
        }
        case H5T_ARRAY: {
            const handle base(H5Tget_super(type));
            return visit_references(base.id(), item, H5Tget_size(type) / H5Tget_size(base.id()),
                                    visit);
        }
        case H5T_VLEN: {
            const handle base(H5Tget_super(type));
            hvl_t sequence;
            std::memcpy(&sequence, item, sizeof(sequence));
            return visit_references(base.id(), static_cast<std::byte*>(sequence.p), sequence.len,
                                    visit);
        }
        default:
            return 0;
    }
}

}  // namespace

std::uint64_t visit_references(handle::id_type type, std::byte* items, std::size_t count,
                               const reference_visitor& visit) {
    const auto lock = library_lock();
    const std::size_t bytes = H5Tget_size(type);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += visit_item(type, items + i * bytes, visit);
    return sum;
}

bool may_refer(const handle& type) {
    return checked("HDF5 datatype", cannot_follow,
                   [&] { return H5Tdetect_class(type.id(), H5T_REFERENCE); }) > 0;
}

object_paths paths_of(const std::string& subject, const handle& object_of_file) {
    object_paths paths;
    const auto lock = library_lock();
    const handle file =
        checked_handle(subject, cannot_follow, [&] { return H5Iget_file_id(object_of_file.id()); });
    checked(subject, cannot_follow, [&] {
        return H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_NATIVE, collect_path, &paths,
                         H5O_INFO_BASIC);
    });
    return paths;
}

reference_mover::reference_mover(const handle& source, const object_paths& paths,
                                 const handle& target, path_change change)
    : source_(source), paths_(paths), target_(target), change_(std::move(change)) {}

std::uint64_t reference_mover::move(handle::id_type type, std::byte* items, std::size_t count) {
    const auto lock = library_lock();
    const std::uint64_t lost =
        visit_references(type, items, count, [this](std::byte* reference, bool is_object) {
            if (is_object ? move_object(reference) : move_region(reference)) return false;
            std::memset(reference, 0, is_object ? sizeof(hobj_ref_t) : sizeof(hdset_reg_ref_t));
            return true;
        });
    take_error_lines();
    return lost;
}

const std::string* reference_mover::path_of(const void* reference, bool region) const {
    const H5R_type_t kind = region ? H5R_DATASET_REGION : H5R_OBJECT;
    const hid_t opened = H5Rdereference2(source_.id(), H5P_DEFAULT, kind, reference);
    if (opened < 0) return nullptr;
    const handle object(opened);
    H5O_info_t info;
    if (H5Oget_info2(object.id(), &info, H5O_INFO_BASIC) < 0) return nullptr;
    const auto found = paths_.find(info.addr);
    return found == paths_.end() ? nullptr : &found->second;
}

bool reference_mover::move_object(std::byte* item) {
    hobj_ref_t reference = 0;
    std::memcpy(&reference, item, sizeof(reference));
    const auto [known, is_new] = moved_.try_emplace(reference, 0);
    if (is_new) {
        const std::string* const path = path_of(item, false);
        hobj_ref_t made = 0;
        const bool there =
            path != nullptr &&
            H5Rcreate(&made, target_.id(), change_(*path).path.c_str(), H5R_OBJECT, -1) >= 0;
        if (there) known->second = made;
    }
    std::memcpy(item, &known->second, sizeof(reference));
    return known->second != 0;
}

bool reference_mover::move_region(std::byte* item) const {
    const std::string* const path = path_of(item, true);
    if (path == nullptr) return false;
    const new_place place = change_(*path);
    if (place.rows_moved) return false;
    const hid_t selected = H5Rget_region(source_.id(), H5R_DATASET_REGION, item);
    if (selected < 0) return false;
    const handle region(selected);
    return H5Rcreate(item, target_.id(), place.path.c_str(), H5R_DATASET_REGION, region.id()) >= 0;
}

}  // namespace lookback::io
