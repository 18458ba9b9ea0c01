#include "hdf5_peer.hpp"

#include "harness.hpp"
#include "io/hdf5_call.hpp"

namespace lookback::bench {
namespace {

using io::checked;
using io::checked_handle;
using io::handle;

constexpr hsize_t chunk_items = 131072;  // 1 MiB of u64

handle creation_properties(const std::string& path, layout layout, hsize_t items) {
    handle properties =
        checked_handle(path, "properties", [] { return H5Pcreate(H5P_DATASET_CREATE); });
    if (layout == layout::contiguous) return properties;
    const hsize_t chunk = items < chunk_items ? items : chunk_items;
    checked(path, "chunk", [&] { return H5Pset_chunk(properties.id(), 1, &chunk); });
    checked(path, "shuffle", [&] { return H5Pset_shuffle(properties.id()); });
    checked(path, "gzip", [&] { return H5Pset_deflate(properties.id(), 4); });
    return properties;
}

}  // namespace

double write_with_hdf5(const std::string& path, layout layout,
                       std::span<const std::uint64_t> keys) {
    const hsize_t items = keys.size();
    const handle file = checked_handle(path, "create", [&] {
        return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    });
    const handle space =
        checked_handle(path, "shape", [&] { return H5Screate_simple(1, &items, nullptr); });
    const handle properties = creation_properties(path, layout, items);
    const handle dataset = checked_handle(path, "dataset", [&] {
        return H5Dcreate2(file.id(), "keys", H5T_STD_U64LE, space.id(), H5P_DEFAULT,
                          properties.id(), H5P_DEFAULT);
    });
    return seconds_of([&] {
        checked(path, "write", [&] {
            return H5Dwrite(dataset.id(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                            keys.data());
        });
        checked(path, "flush", [&] { return H5Fflush(file.id(), H5F_SCOPE_LOCAL); });
    });
}

double read_with_hdf5(const std::string& path, std::span<std::uint64_t> keys) {
    const handle file = checked_handle(
        path, "open", [&] { return H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT); });
    const handle dataset =
        checked_handle(path, "dataset", [&] { return H5Dopen2(file.id(), "keys", H5P_DEFAULT); });
    return seconds_of([&] {
        checked(path, "read", [&] {
            return H5Dread(dataset.id(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                           keys.data());
        });
    });
}

}  // namespace lookback::bench
