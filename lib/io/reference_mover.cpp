#include "io/reference_mover.hpp"

#include "io/hdf5_call.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lookback::io {
namespace {

bool is_null(const std::byte* item, std::size_t bytes) {
    return std::all_of(item, item + bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

reference_map::reference_map(hid_t type) {
    const auto lock = library_lock();
    bytes_ = H5Tget_size(type);
    add(type, 0);
}

void reference_map::add(hid_t type, std::size_t offset) {
    switch (H5Tget_class(type)) {
        case H5T_REFERENCE: {
            const bool is_object = H5Tequal(type, H5T_STD_REF_OBJ) > 0;
            spots_.push_back({is_object ? kind::object : kind::region, offset, 1, {}});
            return;
        }
        case H5T_COMPOUND: {
            const int members = H5Tget_nmembers(type);
            for (unsigned m = 0; m < static_cast<unsigned>(members); ++m) {
                const handle member(H5Tget_member_type(type, m));
                add(member.id(), offset + H5Tget_member_offset(type, m));
            }
            return;
        }
        case H5T_ARRAY:
        case H5T_VLEN: {
            const handle base(H5Tget_super(type));
            reference_map inner(base.id());
            if (inner.spots_.empty()) return;
            const bool is_array = H5Tget_class(type) == H5T_ARRAY;
            const std::size_t count = is_array ? H5Tget_size(type) / inner.bytes_ : 0;
            spots_.push_back({is_array ? kind::array : kind::sequence, offset, count, {}});
            spots_.back().inner.push_back(std::move(inner));
            return;
        }
        default:
            return;
    }
}

std::uint64_t reference_map::visit(std::byte* items, std::size_t count,
                                   const reference_visitor& visit) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
        for (const spot& each : spots_) {
            std::byte* const at = items + i * bytes_ + each.offset;
            const bool is_object = each.what == kind::object;
            if (each.what == kind::array) {
                sum += each.inner.front().visit(at, each.count, visit);
            } else if (each.what == kind::sequence) {
                hvl_t sequence;
                std::memcpy(&sequence, at, sizeof(sequence));
                sum += each.inner.front().visit(static_cast<std::byte*>(sequence.p), sequence.len,
                                                visit);
            } else if (!is_null(at, is_object ? sizeof(hobj_ref_t) : sizeof(hdset_reg_ref_t))) {
                sum += visit(at, is_object) ? 1 : 0;
            }
        }
    }
    return sum;
}

bool may_refer(const handle& type) {
    return checked("HDF5 datatype", cannot_follow,
                   [&] { return H5Tdetect_class(type.id(), H5T_REFERENCE); }) > 0;
}

reference_mover::reference_mover(const handle& source, const handle& target, place_change change)
    : source_(source), target_(target), change_(std::move(change)) {}

reference_mover::result reference_mover::move(const reference_map& map, std::byte* items,
                                              std::size_t count) {
    const auto lock = library_lock();
    result moved;
    moved.lost = map.visit(items, count, [&](std::byte* reference, bool is_object) {
        if (is_object ? move_object(reference) : move_region(reference)) {
            ++moved.kept;
            return false;
        }
        std::memset(reference, 0, is_object ? sizeof(hobj_ref_t) : sizeof(hdset_reg_ref_t));
        return true;
    });
    take_error_lines();
    return moved;
}

new_place reference_mover::place_now(const void* reference, bool region) const {
    const H5R_type_t kind = region ? H5R_DATASET_REGION : H5R_OBJECT;
    const hid_t opened = H5Rdereference2(source_.id(), H5P_DEFAULT, kind, reference);
    if (opened < 0) return {};
    const handle object(opened);
    H5O_info_t info;
    if (H5Oget_info2(object.id(), &info, H5O_INFO_BASIC) < 0) return {};
    return change_({info.fileno, info.addr});
}

bool reference_mover::move_object(std::byte* item) {
    hobj_ref_t reference = 0;
    std::memcpy(&reference, item, sizeof(reference));
    const auto [known, is_new] = moved_.try_emplace(reference, 0);
    if (is_new) {
        const std::string path = place_now(item, false).path;
        hobj_ref_t made = 0;
        const bool there =
            !path.empty() && H5Rcreate(&made, target_.id(), path.c_str(), H5R_OBJECT, -1) >= 0;
        if (there) known->second = made;
    }
    std::memcpy(item, &known->second, sizeof(reference));
    return known->second != 0;
}

bool reference_mover::move_region(std::byte* item) const {
    const new_place place = place_now(item, true);
    if (place.path.empty() || place.rows_moved) return false;
    const hid_t selected = H5Rget_region(source_.id(), H5R_DATASET_REGION, item);
    if (selected < 0) return false;
    const handle region(selected);
    return H5Rcreate(item, target_.id(), place.path.c_str(), H5R_DATASET_REGION, region.id()) >= 0;
}

}  // namespace lookback::io
