// Tests of lib/io: HDF5 files made and checked by plain HDF5 calls, in a folder of the test's own.
// Invariant: nothing of lib/io is used here, so that it cannot agree with itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

namespace lookback::io::test {

/// A folder that is removed at the end.
class folder {
public:
    folder() {
        // In memory where that can be: each commit syncs, which takes a disk 14 ms.
        const std::filesystem::path memory = "/dev/shm";
        const bool usable = access(memory.c_str(), W_OK) == 0;
        std::string pattern =
            ((usable ? memory : std::filesystem::temp_directory_path()) / "lookback-io-XXXXXX")
                .string();
        path_ = mkdtemp(pattern.data());
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    const std::filesystem::path& path() const { return path_; }
    std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(path_), {}));
    }

private:
    std::filesystem::path path_;
};

struct plain_dataset {
    hid_t type = H5T_STD_U64LE;  // borrowed
    std::vector<hsize_t> dims;
    std::vector<hsize_t> max_dims;  // empty = dims
    hid_t properties = H5P_DEFAULT;
};

/// Creates a dataset and writes `bytes`, which lie in memory as `type` says; no bytes, no write.
inline void make_dataset(hid_t file, const std::string& path, const plain_dataset& d,
                         const std::vector<std::byte>& bytes) {
    const hid_t link = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(link, 1);
    const hid_t space = d.dims.empty()
                            ? H5Screate(H5S_SCALAR)
                            : H5Screate_simple(static_cast<int>(d.dims.size()), d.dims.data(),
                                               d.max_dims.empty() ? nullptr : d.max_dims.data());
    const hid_t id = H5Dcreate2(file, path.c_str(), d.type, space, link, d.properties, H5P_DEFAULT);
    ASSERT_GE(id, 0) << path;
    if (!bytes.empty()) {
        ASSERT_GE(H5Dwrite(id, d.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0) << path;
    }
    H5Dclose(id);
    H5Sclose(space);
    H5Pclose(link);
}

inline hid_t make_file(const std::string& path, hsize_t user_block = 0) {
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    if (user_block != 0) H5Pset_userblock(creation, user_block);
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    H5Pclose(creation);
    return file;
}

/// All bytes of a dataset, in the file's own type and byte order.
inline std::vector<std::byte> plain_read(const std::string& path, const std::string& dataset) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT_GE(file, 0) << path;
    const hid_t id = H5Dopen2(file, dataset.c_str(), H5P_DEFAULT);
    EXPECT_GE(id, 0) << dataset;
    const hid_t type = H5Dget_type(id);
    const hid_t space = H5Dget_space(id);
    std::vector<std::byte> bytes(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) *
                                 H5Tget_size(type));
    EXPECT_GE(H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0) << dataset;
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(id);
    H5Fclose(file);
    return bytes;
}

/// Bytes with structure, so that filters have something to do: small steps, some noise.
inline std::vector<std::byte> pattern(std::size_t bytes, std::uint32_t seed = 1) {
    std::vector<std::byte> result(bytes);
    std::uint32_t state = seed * 2654435761U + 1;
    for (std::size_t i = 0; i < bytes; ++i) {
        state = state * 1664525U + 1013904223U;
        const std::uint32_t value = i % 8 < 3 ? state >> 24 : static_cast<std::uint32_t>(i >> 8);
        result[i] = static_cast<std::byte>(value);
    }
    return result;
}

inline std::vector<std::byte> file_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

}  // namespace lookback::io::test
