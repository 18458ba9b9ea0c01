#include "io/dataset.hpp"

#include "io/filters.hpp"
#include "io/hdf5_call.hpp"
#include "io/virtual_sources.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::io {
namespace {

constexpr std::string_view cannot_open_dataset = "cannot open the dataset";

io::shape read_shape(const std::string& subject, const handle& dataset) {
    const handle space =
        checked_handle(subject, cannot_open_dataset, [&] { return H5Dget_space(dataset.id()); });
    io::shape shape;
    const auto lock = library_lock();
    shape.null = H5Sget_simple_extent_type(space.id()) == H5S_NULL;
    const int rank = checked(subject, cannot_open_dataset,
                             [&] { return H5Sget_simple_extent_ndims(space.id()); });
    std::vector<hsize_t> dims(static_cast<std::size_t>(rank));
    std::vector<hsize_t> max_dims(dims.size());
    checked(subject, cannot_open_dataset,
            [&] { return H5Sget_simple_extent_dims(space.id(), dims.data(), max_dims.data()); });
    shape.dims.assign(dims.begin(), dims.end());
    shape.max_dims.assign(max_dims.begin(), max_dims.end());
    return shape;
}

io::layout read_layout(const std::string& subject, const handle& properties) {
    const auto kind =
        checked(subject, cannot_open_dataset, [&] { return int{H5Pget_layout(properties.id())}; });
    switch (kind) {
        case H5D_COMPACT:
            return layout::compact;
        case H5D_CHUNKED:
            return layout::chunked;
        case H5D_VIRTUAL:
            return layout::virtual_dataset;
        default:
            break;
    }
    const int external = checked(subject, cannot_open_dataset,
                                 [&] { return H5Pget_external_count(properties.id()); });
    return external > 0 ? layout::external : layout::contiguous;
}

// Edge chunks may be stored without the filters (H5Pset_chunk_opts); their filter masks do not say.
bool has_unfiltered_edges(const std::string& subject, const handle& properties) {
    unsigned options = 0;
    checked(subject, cannot_open_dataset,
            [&] { return H5Pget_chunk_opts(properties.id(), &options); });
    return (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
}

// Data that were never written take no room, so that a small file can claim any size. Past this
// one, sums of several columns and their buffers would no longer fit 64 bits.
void require_countable(const std::string& subject, const io::shape& shape, std::size_t item_bytes) {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 56;
    std::uint64_t bytes = std::max(item_bytes, sizeof(std::uint64_t));
    for (const std::uint64_t extent : shape.dims) {
        const std::uint64_t length = std::max<std::uint64_t>(extent, 1);
        if (bytes > most_bytes / length) {
            throw_io_error(subject, cannot_open_dataset,
                           fmt::format("it claims {} items, more than 64 bits can count the bytes "
                                       "of; is the file damaged?",
                                       fmt::join(shape.dims, " x ")));
        }
        bytes *= length;
    }
}

std::vector<std::uint64_t> read_chunk(const std::string& subject, const handle& properties,
                                      std::size_t rank) {
    std::vector<hsize_t> chunk(rank);
    checked(subject, cannot_open_dataset,
            [&] { return H5Pget_chunk(properties.id(), static_cast<int>(rank), chunk.data()); });
    return {chunk.begin(), chunk.end()};
}

}  // namespace

std::uint64_t shape::rows() const noexcept {
    if (null) return 0;
    return dims.empty() ? 1 : dims[0];
}

std::uint64_t shape::row_items() const noexcept {
    if (dims.size() < 2) return 1;
    return std::accumulate(dims.begin() + 1, dims.end(), std::uint64_t{1}, std::multiplies<>());
}

dataset dataset::describe(handle id, std::string file_path, std::string path) {
    dataset result;
    result.id_ = std::move(id);
    result.file_path_ = std::move(file_path);
    result.path_ = std::move(path);
    const std::string subject = result.address();
    result.type_ = describe_type(checked_handle(subject, cannot_open_dataset, [&] {
        // As it lies in memory: variable-length parts are pointers there.
        return H5Dget_type(result.id_.id());
    }));
    result.shape_ = read_shape(subject, result.id_);
    require_countable(subject, result.shape_, result.type_.bytes);
    const handle properties = checked_handle(subject, cannot_open_dataset,
                                             [&] { return H5Dget_create_plist(result.id_.id()); });
    result.layout_ = read_layout(subject, properties);
    if (result.layout_ == layout::chunked) {
        result.chunk_ = read_chunk(subject, properties, result.shape_.dims.size());
        result.unfiltered_edges_ = has_unfiltered_edges(subject, properties);
    }
    result.filters_ = filters_of(subject, properties);
    return result;
}

dataset dataset::open(const file& file, const std::string& path) {
    const std::string normal = normal_path(path);
    const std::string subject = file.path() + ":" + normal;
    switch (kind_of(file, normal)) {
        case object_kind::dataset:
            break;
        case object_kind::missing:
            throw_io_error(subject, cannot_open_dataset, "there is no such object");
        case object_kind::group:
            throw_io_error(subject, cannot_open_dataset, "this is a group");
        case object_kind::named_type:
            throw_io_error(subject, cannot_open_dataset, "this is a named type");
    }
    dataset result = describe(
        checked_handle(subject, cannot_open_dataset,
                       [&] { return H5Dopen2(file.id().id(), normal.c_str(), H5P_DEFAULT); }),
        file.path(), normal);
    require_filters(subject, result.filters_, false);
    if (result.layout_ == layout::virtual_dataset) require_virtual_sources(file, result);
    return result;
}

std::string dataset::description() const {
    std::string text = type_.name();
    if (shape_.null) return text + ", empty (null)";
    if (shape_.dims.empty()) return text + ", scalar";
    text += fmt::format("[{}]", fmt::join(shape_.dims, ", "));
    switch (layout_) {
        case layout::compact:
            text += ", compact";
            break;
        case layout::contiguous:
            break;
        case layout::chunked:
            text += fmt::format(", chunks of {}", fmt::join(chunk_, " x "));
            break;
        case layout::external:
            text += ", external";
            break;
        case layout::virtual_dataset:
            text += ", virtual";
            break;
    }
    for (const auto& filter : filters_) text += ", " + filter_text(filter);
    return text;
}

dataset dataset::with_fields(const std::vector<std::string>& names) const {
    std::vector<const field*> chosen;
    std::size_t bytes = 0;
    for (const auto& name : names) {
        const auto found = std::find_if(type_.fields.begin(), type_.fields.end(),
                                        [&](const field& field) { return field.name == name; });
        if (found == type_.fields.end()) {
            throw error(
                error_kind::invalid_argument,
                fmt::format("{}: there is no field '{}' in {}", address(), name, type_.name()));
        }
        chosen.push_back(&*found);
        bytes += found->type.bytes;
    }
    const std::string subject = address();
    const handle type = checked_handle(subject, "cannot choose fields",
                                       [&] { return H5Tcreate(H5T_COMPOUND, bytes); });
    std::size_t offset = 0;
    for (const field* field : chosen) {
        checked(subject, "cannot choose fields", [&] {
            return H5Tinsert(type.id(), field->name.c_str(), offset, field->type.type.id());
        });
        offset += field->type.bytes;
    }
    dataset result = *this;
    result.type_ = describe_type(type);
    result.projected_ = true;
    return result;
}

void reclaim(const element_type& type, void* memory, std::uint64_t items) {
    if (!type.has_pointers || items == 0) return;
    const hsize_t size = items;
    const handle space = checked_handle("memory", "cannot give back variable-length items",
                                        [&] { return H5Screate_simple(1, &size, nullptr); });
    checked("memory", "cannot give back variable-length items",
            [&] { return H5Dvlen_reclaim(type.type.id(), space.id(), H5P_DEFAULT, memory); });
}

}  // namespace lookback::io
