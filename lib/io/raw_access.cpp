#include "io/raw_access.hpp"

#include "io/byte_order.hpp"
#include "io/chunk_codec.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace lookback::io {
namespace {

constexpr std::string_view cannot_use = "cannot use the dataset";

hid_t native_type(data_type type) {
    switch (type) {
        case data_type::i8:
            return H5T_NATIVE_INT8;
        case data_type::i16:
            return H5T_NATIVE_INT16;
        case data_type::i32:
            return H5T_NATIVE_INT32;
        case data_type::i64:
            return H5T_NATIVE_INT64;
        case data_type::u8:
            return H5T_NATIVE_UINT8;
        case data_type::u16:
            return H5T_NATIVE_UINT16;
        case data_type::u32:
            return H5T_NATIVE_UINT32;
        case data_type::u64:
            return H5T_NATIVE_UINT64;
        case data_type::f32:
            return H5T_NATIVE_FLOAT;
        default:
            return H5T_NATIVE_DOUBLE;
    }
}

handle memory_type_of(const dataset& dataset, form form, const std::string& subject) {
    const element_type& type = dataset.type();
    // Exact keys are read as they are and swapped here: HDF5's conversions may change NaNs.
    if (form == form::stored || type.exact) return type.type;
    return checked_handle(subject, cannot_use, [&] { return H5Tcopy(native_type(*type.key)); });
}

// The descriptor of a file that HDF5 has open through its plain driver, else -1.
int descriptor_of(const dataset& dataset, const std::string& subject) {
    const auto lock = library_lock();
    const handle file =
        checked_handle(subject, cannot_use, [&] { return H5Iget_file_id(dataset.id().id()); });
    const handle access =
        checked_handle(subject, cannot_use, [&] { return H5Fget_access_plist(file.id()); });
    if (H5Pget_driver(access.id()) != H5FD_SEC2) return -1;
    void* descriptor = nullptr;
    if (H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &descriptor) < 0) {
        take_error_lines();
        return -1;
    }
    return *static_cast<const int*>(descriptor);
}

route route_of(const dataset& dataset, form form, raw_access& access) {
    if (dataset.bytes(form::stored) == 0) return route::none;
    const bool bytes_match = form == form::stored || dataset.type().exact;
    if (dataset.projected() || dataset.type().has_pointers || !bytes_match) return route::hdf5;
    if (dataset.layout() == layout::chunked) {
        const bool known = chunk_codec::knows(dataset.filters()) &&
                           (dataset.filters().empty() || !dataset.unfiltered_edges());
        return known ? route::chunks : route::hdf5;
    }
    if (dataset.layout() != layout::contiguous) return route::hdf5;
    const auto lock = library_lock();
    const haddr_t offset = H5Dget_offset(dataset.id().id());  // with the user block
    if (offset == HADDR_UNDEF) {
        take_error_lines();
        // Not allocated yet; H5Dread gives fill values, or says what is wrong.
        return H5Dget_storage_size(dataset.id().id()) == 0 ? route::fill : route::hdf5;
    }
    access.descriptor = descriptor_of(dataset, access.subject);
    access.file_offset = offset;
    return access.descriptor >= 0 ? route::contiguous : route::hdf5;
}

}  // namespace

raw_access plan_access(const dataset& dataset, form form) {
    raw_access access;
    access.subject = dataset.address();
    access.item_bytes = dataset.type().item_bytes(form);
    access.row_bytes = dataset.row_bytes(form);
    if (form == form::native && dataset.type().exact && dataset.type().swapped) {
        access.swap_bytes = access.item_bytes;
    }
    access.memory_type = memory_type_of(dataset, form, access.subject);
    access.route = route_of(dataset, form, access);
    return access;
}

std::vector<std::byte> fill_item(const dataset& dataset, const raw_access& access) {
    std::vector<std::byte> item(access.item_bytes);
    const handle properties = checked_handle(
        access.subject, cannot_use, [&] { return H5Dget_create_plist(dataset.id().id()); });
    H5D_fill_value_t status = H5D_FILL_VALUE_UNDEFINED;
    checked(access.subject, cannot_use,
            [&] { return H5Pfill_value_defined(properties.id(), &status); });
    if (status == H5D_FILL_VALUE_UNDEFINED) return item;
    checked(access.subject, "cannot read its fill value", [&] {
        return H5Pget_fill_value(properties.id(), access.memory_type.id(), item.data());
    });
    swap_in_place(item.data(), item.size(), access.swap_bytes);
    return item;
}

void fill_memory(const std::vector<std::byte>& item, std::byte* memory, std::uint64_t bytes) {
    if (std::all_of(item.begin(), item.end(), [](std::byte b) { return b == std::byte{0}; })) {
        std::memset(memory, 0, bytes);
        return;
    }
    // Doubles what is there, so that the copies are long.
    std::uint64_t done = std::min<std::uint64_t>(item.size(), bytes);
    std::memcpy(memory, item.data(), done);
    while (done < bytes) {
        const std::uint64_t next = std::min(done, bytes - done);
        std::memcpy(memory + done, memory, next);
        done += next;
    }
}

row_selection select_rows(const dataset& dataset, std::uint64_t first, std::uint64_t rows) {
    const std::string subject = dataset.address();
    row_selection result;
    result.file_space =
        checked_handle(subject, cannot_use, [&] { return H5Dget_space(dataset.id().id()); });
    std::vector<hsize_t> start(dataset.shape().dims.size(), 0);
    std::vector<hsize_t> count(dataset.shape().dims.begin(), dataset.shape().dims.end());
    if (count.empty()) {
        result.memory_space = result.file_space;
        return result;
    }
    start[0] = first;
    count[0] = rows;
    checked(subject, cannot_use, [&] {
        return H5Sselect_hyperslab(result.file_space.id(), H5S_SELECT_SET, start.data(), nullptr,
                                   count.data(), nullptr);
    });
    result.memory_space = checked_handle(subject, cannot_use, [&] {
        return H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr);
    });
    return result;
}

std::uint64_t rows_at_once(const dataset& dataset, std::uint64_t row_bytes) {
    constexpr std::uint64_t batch_bytes = 8 << 20;
    const std::uint64_t unit = dataset.chunk().empty() ? 1 : dataset.chunk()[0];
    const std::uint64_t unit_bytes = std::max<std::uint64_t>(1, unit * row_bytes);
    return unit * std::max<std::uint64_t>(1, batch_bytes / unit_bytes);
}

}  // namespace lookback::io
