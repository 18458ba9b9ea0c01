#include "io/attributes.hpp"

#include "io/element_type.hpp"
#include "io/hdf5_call.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace lookback::io {
namespace {

constexpr std::string_view cannot_copy = "cannot copy an attribute";
constexpr std::string_view cannot_read = "cannot read an attribute";

herr_t collect_name(hid_t, const char* name, const H5A_info_t*, void* out) {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
}

std::vector<std::string> attribute_names(const std::string& subject, const handle& object) {
    constexpr std::string_view cannot_list = "cannot list the attributes";
    const handle properties = checked_handle(subject, cannot_list, [&] {
        switch (H5Iget_type(object.id())) {
            case H5I_DATASET:
                return H5Dget_create_plist(object.id());
            case H5I_GROUP:
                return H5Gget_create_plist(object.id());
            default:
                return H5Pcreate(H5P_OBJECT_CREATE);
        }
    });
    unsigned order = 0;
    checked(subject, cannot_list,
            [&] { return H5Pget_attr_creation_order(properties.id(), &order); });
    const H5_index_t by = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    std::vector<std::string> names;
    hsize_t position = 0;
    checked(subject, cannot_list, [&] {
        return H5Aiterate2(object.id(), by, H5_ITER_INC, &position, collect_name, &names);
    });
    return names;
}

/// An attribute that is read into memory; variable-length parts are given back at the end.
class attribute_value {
public:
    attribute_value(const std::string& subject, const handle& object, const std::string& name) {
        attribute_ = checked_handle(
            subject, cannot_read, [&] { return H5Aopen(object.id(), name.c_str(), H5P_DEFAULT); });
        type_ = describe_type(
            checked_handle(subject, cannot_read, [&] { return H5Aget_type(attribute_.id()); }));
        space_ =
            checked_handle(subject, cannot_read, [&] { return H5Aget_space(attribute_.id()); });
        items_ = static_cast<std::uint64_t>(checked(
            subject, cannot_read, [&] { return H5Sget_simple_extent_npoints(space_.id()); }));
    }
    attribute_value(const attribute_value&) = delete;
    attribute_value& operator=(const attribute_value&) = delete;
    ~attribute_value() {
        if (!loaded_ || !type_.has_pointers) return;
        const auto lock = library_lock();
        H5Dvlen_reclaim(type_.type.id(), space_.id(), H5P_DEFAULT, bytes_.data());
    }

    void load(const std::string& subject) {
        bytes_.resize(items_ * type_.bytes);
        if (bytes_.empty()) return;
        checked(subject, cannot_read,
                [&] { return H5Aread(attribute_.id(), type_.type.id(), bytes_.data()); });
        loaded_ = true;
    }
    /// Takes empty references out of the lists of dimension scales, which could not be followed
    /// with them. Returns false where nothing is left.
    bool drop_empty(const std::string& subject, const std::string& name) {
        if (name == "DIMENSION_LIST") drop_empty_scales();
        if (name == "REFERENCE_LIST") drop_empty_users(subject);
        return items_ != 0;
    }

    void store(const std::string& subject, const handle& target, const std::string& name) const {
        const auto lock = library_lock();
        const handle properties = checked_handle(
            subject, cannot_copy, [&] { return H5Aget_create_plist(attribute_.id()); });
        if (checked(subject, cannot_copy, [&] { return H5Aexists(target.id(), name.c_str()); }) >
            0) {
            checked(subject, cannot_copy, [&] { return H5Adelete(target.id(), name.c_str()); });
        }
        const handle type = detached_type(subject, type_);
        const handle created = checked_handle(subject, cannot_copy, [&] {
            return H5Acreate2(target.id(), name.c_str(), type.id(), space_.id(), properties.id(),
                              H5P_DEFAULT);
        });
        if (bytes_.empty()) return;  // a null dataspace has nothing to write
        checked(subject, cannot_copy,
                [&] { return H5Awrite(created.id(), type.id(), bytes_.data()); });
    }

    const element_type& type() const { return type_; }
    std::uint64_t items() const { return items_; }
    std::byte* data() { return bytes_.data(); }

private:
    // A sequence of references for each dimension.
    void drop_empty_scales() {
        const hid_t type = type_.type.id();
        if (H5Tget_class(type) != H5T_VLEN) return;
        const handle base(H5Tget_super(type));
        if (H5Tequal(base.id(), H5T_STD_REF_OBJ) <= 0) return;
        for (std::uint64_t i = 0; i < items_; ++i) {
            hvl_t list;
            std::memcpy(&list, &bytes_[i * sizeof(hvl_t)], sizeof(list));
            auto* const begin = static_cast<hobj_ref_t*>(list.p);
            list.len = static_cast<std::size_t>(std::remove(begin, begin + list.len, 0U) - begin);
            if (list.len == 0) {  // HDF5 would take it for given back
                H5free_memory(list.p);
                list.p = nullptr;
            }
            std::memcpy(&bytes_[i * sizeof(hvl_t)], &list, sizeof(list));
        }
    }
    // A dataset and the number of its dimension for each use of a scale.
    void drop_empty_users(const std::string& subject) {
        if (type_.fields.empty() || H5Sget_simple_extent_ndims(space_.id()) != 1) return;
        const handle& first = type_.fields.front().type.type;
        if (H5Tequal(first.id(), H5T_STD_REF_OBJ) <= 0) return;
        constexpr std::array<std::byte, sizeof(hobj_ref_t)> empty{};
        std::uint64_t left = 0;
        for (std::uint64_t i = 0; i < items_; ++i) {
            const std::byte* const item = &bytes_[i * type_.bytes];
            if (std::memcmp(item + type_.fields.front().offset, empty.data(), empty.size()) == 0) {
                continue;
            }
            std::memmove(&bytes_[left * type_.bytes], item, type_.bytes);
            ++left;
        }
        if (left == items_) return;
        items_ = left;
        bytes_.resize(items_ * type_.bytes);
        const hsize_t size = left;
        space_ = checked_handle(subject, cannot_copy,
                                [&] { return H5Screate_simple(1, &size, nullptr); });
    }

    handle attribute_;
    element_type type_;
    handle space_;
    std::uint64_t items_ = 0;
    std::vector<std::byte> bytes_;
    bool loaded_ = false;
};

// What an object header holds at most, less room for the attribute's name and type.
constexpr hsize_t largest_plain_attribute = 60000;

}  // namespace

std::vector<pending_attribute> copy_attributes(const std::string& subject, const handle& source,
                                               const handle& target,
                                               const std::string& target_path) {
    std::vector<pending_attribute> pending;
    for (const auto& name : attribute_names(subject, source)) {
        attribute_value value(subject, source, name);
        if (value.type().has_references && value.items() > 0) {
            pending.push_back({source, name, target_path});
            continue;
        }
        value.load(subject);
        value.store(subject, target, name);
    }
    return pending;
}

void make_room_for_attributes(const std::string& subject, const handle& source,
                              const handle& properties) {
    for (const auto& name : attribute_names(subject, source)) {
        const handle attribute = checked_handle(
            subject, cannot_copy, [&] { return H5Aopen(source.id(), name.c_str(), H5P_DEFAULT); });
        const auto lock = library_lock();
        if (H5Aget_storage_size(attribute.id()) <= largest_plain_attribute) continue;
        // Only headers of the newer kind, which an order of creation needs, store it elsewhere.
        checked(subject, cannot_copy,
                [&] { return H5Pset_attr_creation_order(properties.id(), H5P_CRT_ORDER_TRACKED); });
        return;
    }
}

void defer_references(const std::string& subject, const handle& source, const handle& target,
                      const std::string& target_path, std::vector<pending_attribute>& pending) {
    for (const auto& name : attribute_names(subject, source)) {
        const attribute_value value(subject, source, name);
        if (!value.type().has_references || value.items() == 0) continue;
        checked(subject, cannot_copy, [&] { return H5Adelete(target.id(), name.c_str()); });
        pending.push_back({source, name, target_path});
    }
}

reference_mover::result copy_references(const std::string& subject,
                                        const pending_attribute& attribute,
                                        const handle& target_file, reference_mover& mover) {
    const auto lock = library_lock();
    attribute_value value(subject, attribute.source_object, attribute.name);
    value.load(subject);
    const reference_map map(value.type().type.id());
    const reference_mover::result moved = mover.move(map, value.data(), value.items());
    if (moved.kept == 0 && moved.lost != 0) return moved;
    if (moved.lost != 0) value.drop_empty(subject, attribute.name);
    const handle target = checked_handle(subject, cannot_copy, [&] {
        return H5Oopen(target_file.id(), attribute.target_path.c_str(), H5P_DEFAULT);
    });
    value.store(subject, target, attribute.name);
    return moved;
}

void update_references(const std::string& subject, const handle& object,
                       const reference_visitor& visit, std::vector<std::string>& told) {
    const auto lock = library_lock();
    std::vector<std::string> names;
    const auto can_read = [&](const auto& read) {
        const std::optional<std::string> why = why_not_read(read);
        if (why) told.push_back(*why);
        return !why;
    };
    if (!can_read([&] { names = attribute_names(subject, object); })) return;
    for (const auto& name : names) {
        std::optional<attribute_value> value;
        const bool is_read = can_read([&] {
            const handle attribute = checked_handle(subject, cannot_read, [&] {
                return H5Aopen(object.id(), name.c_str(), H5P_DEFAULT);
            });
            const handle type =
                checked_handle(subject, cannot_read, [&] { return H5Aget_type(attribute.id()); });
            if (!may_refer(type)) return;
            value.emplace(subject, object, name);
            value->load(subject);
        });
        if (!is_read || !value) continue;
        const reference_map map(value->type().type.id());
        if (map.visit(value->data(), value->items(), visit) == 0) continue;
        if (value->drop_empty(subject, name)) {
            value->store(subject, object, name);
        } else {
            checked(subject, "cannot update an attribute",
                    [&] { return H5Adelete(object.id(), name.c_str()); });
        }
    }
}

void update_row_count(const std::string& subject, const handle& dataset, std::uint64_t rows) {
    constexpr const char* name = "NROWS";
    const auto lock = library_lock();
    if (H5Aexists(dataset.id(), "CLASS") <= 0 || H5Aexists(dataset.id(), name) <= 0) return;
    const handle attribute = checked_handle(
        subject, cannot_copy, [&] { return H5Aopen(dataset.id(), name, H5P_DEFAULT); });
    const attribute_value value(subject, dataset, name);
    if (value.type().kind != element_kind::integer || value.items() != 1) return;
    checked(subject, "cannot set the attribute NROWS",
            [&] { return H5Awrite(attribute.id(), H5T_NATIVE_UINT64, &rows); });
}

}  // namespace lookback::io
