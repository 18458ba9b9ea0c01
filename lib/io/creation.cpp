#include "io/creation.hpp"

#include "io/filters.hpp"
#include "io/hdf5_call.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace lookback::io {
namespace {

// h5py and PyTables choose 8 KiB to 1 MiB; 1 MiB reads fastest here, a thread a chunk.
constexpr std::uint64_t default_chunk_bytes = 1 << 20;
// HDF5's limit for data in the object header, less room for the header's other messages.
constexpr std::uint64_t largest_compact_bytes = 60000;

// HDF5 stores the size of a chunk in 32 bits. A wider type, as of sums, may need more.
constexpr std::uint64_t largest_chunk_bytes = (std::uint64_t{1} << 32) - 1;

using extents = std::vector<std::uint64_t>;

handle make_space(const std::string& subject, const io::shape& shape) {
    return checked_handle(subject, cannot_create, [&] {
        if (shape.null) return H5Screate(H5S_NULL);
        if (shape.dims.empty()) return H5Screate(H5S_SCALAR);
        const std::vector<hsize_t> dims(shape.dims.begin(), shape.dims.end());
        const std::vector<hsize_t> max_dims(shape.max_dims.begin(), shape.max_dims.end());
        return H5Screate_simple(static_cast<int>(dims.size()), dims.data(), max_dims.data());
    });
}

io::shape resized(const io::shape& source, std::uint64_t rows) {
    io::shape shape = source;
    if (shape.null ? rows == 0 : shape.dims.empty() && rows == 1) return shape;
    if (shape.dims.empty()) {
        shape.null = false;
        shape.dims = shape.max_dims = {rows};
        return shape;
    }
    const bool was_full = shape.max_dims[0] == shape.dims[0];
    shape.dims[0] = rows;
    // A bound stays one, unless it was only the old number of rows.
    if (shape.max_dims[0] != shape::unlimited) {
        shape.max_dims[0] = was_full ? rows : std::max(rows, shape.max_dims[0]);
    }
    return shape;
}

bool is_extensible(const io::shape& shape) {
    return shape.max_dims != shape.dims;
}

// Rows of a chunk of the default size.
std::uint64_t default_chunk_rows(std::uint64_t row_bytes) {
    return std::max<std::uint64_t>(1, default_chunk_bytes / std::max<std::uint64_t>(1, row_bytes));
}

// Chunk dimensions for the new shape; none where it is not chunked.
extents chunk_for(const io::shape& shape, extents chunk, bool wanted, std::uint64_t item_bytes,
                  const storage_options& storage) {
    if (shape.null || shape.dims.empty()) return {};
    const bool empty = std::find(shape.dims.begin(), shape.dims.end(), 0U) != shape.dims.end();
    if (empty && !is_extensible(shape)) return {};
    if (chunk.empty()) {
        if (!wanted && !storage.chunk_rows && !is_extensible(shape)) return {};
        chunk = shape.dims;
        chunk[0] = default_chunk_rows(shape.row_items() * item_bytes);
    }
    if (storage.chunk_rows) chunk[0] = *storage.chunk_rows;
    for (std::size_t k = 0; k < chunk.size(); ++k) {
        if (shape.max_dims[k] != shape::unlimited) chunk[k] = std::min(chunk[k], shape.max_dims[k]);
        chunk[k] = std::max<std::uint64_t>(1, chunk[k]);
    }
    std::uint64_t band_bytes = item_bytes;
    for (std::size_t k = 1; k < chunk.size(); ++k) band_bytes *= chunk[k];
    chunk[0] = std::min(chunk[0], std::max<std::uint64_t>(1, largest_chunk_bytes / band_bytes));
    return chunk;
}

// Contiguous data are allocated at once, so that their bytes can be written beside HDF5; and all of
// them will be, so that filling them first would be work for nothing.
void allocate_early(const std::string& subject, const handle& properties) {
    checked(subject, cannot_create,
            [&] { return H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY); });
    H5D_fill_value_t status = H5D_FILL_VALUE_UNDEFINED;
    H5D_fill_time_t time = H5D_FILL_TIME_IFSET;
    checked(subject, cannot_create,
            [&] { return H5Pfill_value_defined(properties.id(), &status); });
    checked(subject, cannot_create, [&] { return H5Pget_fill_time(properties.id(), &time); });
    if (time == H5D_FILL_TIME_ALLOC || status == H5D_FILL_VALUE_USER_DEFINED) {
        checked(subject, cannot_create,
                [&] { return H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER); });
    }
}

void set_layout(const std::string& subject, const handle& properties, const extents& chunk,
                bool compact, bool has_pointers) {
    if (!chunk.empty()) {
        checked(subject, cannot_create,
                [&] { return H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_INCR); });
        const std::vector<hsize_t> dims(chunk.begin(), chunk.end());
        checked(subject, cannot_create, [&] {
            return H5Pset_chunk(properties.id(), static_cast<int>(dims.size()), dims.data());
        });
        return;
    }
    checked(subject, cannot_create,
            [&] { return H5Pset_layout(properties.id(), compact ? H5D_COMPACT : H5D_CONTIGUOUS); });
    // HDF5 fills variable-length items itself, and never late.
    if (!compact && !has_pointers) allocate_early(subject, properties);
}

bool shares_messages(const std::string& subject, const handle& object) {
    const handle file =
        checked_handle(subject, cannot_create, [&] { return H5Iget_file_id(object.id()); });
    const handle properties =
        checked_handle(subject, cannot_create, [&] { return H5Fget_create_plist(file.id()); });
    unsigned indexes = 0;
    checked(subject, cannot_create,
            [&] { return H5Pget_shared_mesg_nindexes(properties.id(), &indexes); });
    return indexes != 0;
}

// In files that share messages between headers, HDF5 1.10 notes in the properties where in that
// file fill value and filters lie, and would write that into the other file, as with types.
handle without_shared_parts(const std::string& subject, const handle& object, handle properties) {
    if (!shares_messages(subject, object)) return properties;
    std::size_t bytes = 0;
    checked(subject, cannot_create, [&] { return H5Pencode(properties.id(), nullptr, &bytes); });
    std::vector<std::byte> text(bytes);
    checked(subject, cannot_create,
            [&] { return H5Pencode(properties.id(), text.data(), &bytes); });
    return checked_handle(subject, cannot_create, [&] { return H5Pdecode(text.data()); });
}

// The source's properties; external files, virtual sources and fill values that are no numbers for
// a numeric result are left behind.
handle copied_properties(const std::string& subject, const dataset& source, bool new_type) {
    handle own =
        without_shared_parts(subject, source.id(), checked_handle(subject, cannot_create, [&] {
                                 return H5Dget_create_plist(source.id().id());
                             }));
    const bool fill_fits = !new_type || source.type().key.has_value();
    if (source.layout() != layout::external && source.layout() != layout::virtual_dataset &&
        fill_fits) {
        return own;
    }
    handle fresh =
        checked_handle(subject, cannot_create, [&] { return H5Pcreate(H5P_DATASET_CREATE); });
    H5D_fill_value_t status = H5D_FILL_VALUE_UNDEFINED;
    checked(subject, cannot_create, [&] { return H5Pfill_value_defined(own.id(), &status); });
    if (status == H5D_FILL_VALUE_USER_DEFINED && fill_fits) {
        std::vector<std::byte> value(source.type().bytes);
        const hid_t type = source.type().type.id();
        checked(subject, cannot_create,
                [&] { return H5Pget_fill_value(own.id(), type, value.data()); });
        checked(subject, cannot_create,
                [&] { return H5Pset_fill_value(fresh.id(), type, value.data()); });
    }
    return fresh;
}

// IEEE 754 binary16, which HDF5 1.10 has no name for; as h5py makes it.
handle half_type() {
    handle type = checked_handle("HDF5 datatype", "cannot make a f16",
                                 [] { return H5Tcopy(H5T_IEEE_F32LE); });
    checked("HDF5 datatype", "cannot make a f16",
            [&] { return H5Tset_fields(type.id(), 15, 10, 5, 0, 10); });
    checked("HDF5 datatype", "cannot make a f16", [&] { return H5Tset_size(type.id(), 2); });
    checked("HDF5 datatype", "cannot make a f16", [&] { return H5Tset_ebias(type.id(), 15); });
    return type;
}

}  // namespace

handle file_type(data_type type) {
    if (type == data_type::f16) return half_type();
    return checked_handle("HDF5 datatype", "cannot copy it", [&] {
        switch (type) {
            case data_type::i8:
                return H5Tcopy(H5T_STD_I8LE);
            case data_type::i16:
                return H5Tcopy(H5T_STD_I16LE);
            case data_type::i32:
                return H5Tcopy(H5T_STD_I32LE);
            case data_type::i64:
                return H5Tcopy(H5T_STD_I64LE);
            case data_type::u8:
                return H5Tcopy(H5T_STD_U8LE);
            case data_type::u16:
                return H5Tcopy(H5T_STD_U16LE);
            case data_type::u32:
                return H5Tcopy(H5T_STD_U32LE);
            case data_type::u64:
                return H5Tcopy(H5T_STD_U64LE);
            case data_type::f32:
                return H5Tcopy(H5T_IEEE_F32LE);
            default:
                return H5Tcopy(H5T_IEEE_F64LE);
        }
    });
}

creation creation_like(const std::string& subject, const dataset& source, std::uint64_t rows,
                       const storage_options& storage) {
    const io::shape shape = resized(source.shape(), rows);
    const auto [lossless, lost] = without_loss(source.filters(), storage.type.has_value());
    const std::vector<filter>& filters = storage.filters ? *storage.filters : lossless;
    const std::size_t item_bytes = storage.type ? size_of(*storage.type) : source.type().bytes;
    const extents chunk =
        chunk_for(shape, source.chunk(), storage.filters && !filters.empty(), item_bytes, storage);
    creation result;
    result.properties = copied_properties(subject, source, storage.type.has_value());
    if (chunk.empty() || storage.filters || !lost.empty()) {
        set_filters(subject, result.properties, chunk.empty() ? std::vector<filter>() : filters);
    }
    if (!storage.filters && !lost.empty()) {
        result.notice = fmt::format(
            "{}: stored by lossless filters, since {} would change values "
            "again; -f asks for others",
            subject, lost);
    }
    if (!chunk.empty()) require_filters(subject, filters, true);
    const bool compact = source.layout() == layout::compact &&
                         rows * source.row_items() * item_bytes <= largest_compact_bytes;
    set_layout(subject, result.properties, chunk, compact,
               !storage.type && source.type().has_pointers);
    result.space = make_space(subject, shape);
    return result;
}

creation creation_new(const std::string& subject, std::size_t item_bytes, std::uint64_t rows,
                      const storage_options& storage, const dataset* beside) {
    io::shape shape;
    shape.dims = shape.max_dims = {rows};
    std::vector<filter> filters;
    storage_options chosen = storage;
    extents chunk;
    if (beside != nullptr && !beside->chunk().empty()) {
        chunk = {beside->chunk()[0]};
        // Filters with parameters of their own type (scale-offset, nbit, plugins) stay behind.
        std::copy_if(beside->filters().begin(), beside->filters().end(),
                     std::back_inserter(filters), [](const filter& f) {
                         return f.id == filter::deflate || f.id == filter::shuffle ||
                                f.id == filter::fletcher32;
                     });
    }
    if (storage.filters) filters = *storage.filters;
    chunk = chunk_for(shape, chunk, !filters.empty(), item_bytes, chosen);
    creation result;
    result.properties =
        checked_handle(subject, cannot_create, [&] { return H5Pcreate(H5P_DATASET_CREATE); });
    if (!chunk.empty()) {
        require_filters(subject, filters, true);
        set_filters(subject, result.properties, filters);
    }
    set_layout(subject, result.properties, chunk, false, false);
    result.space = make_space(subject, shape);
    return result;
}

}  // namespace lookback::io
