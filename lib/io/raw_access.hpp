// Level lib/io, private: how a dataset's bytes can be reached.
// Invariant: whatever cannot be read or written bit for bit beside HDF5 goes through HDF5.
#pragma once

#include "io/dataset.hpp"
#include "io/hdf5_call.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lookback::io {

enum class route {
    none,        ///< nothing to move
    fill,        ///< never written: all items are the fill value
    contiguous,  ///< pread, pwrite at an offset in the file
    chunks,      ///< raw chunks, coded in threads
    hdf5,        ///< H5Dread, H5Dwrite
};

/// What a transfer between memory in `form` and this dataset needs to know.
struct raw_access {
    io::route route = route::none;
    std::size_t item_bytes = 0;   ///< in memory
    std::size_t swap_bytes = 0;   ///< item size where memory and file differ in byte order, else 0
    std::uint64_t row_bytes = 0;  ///< in memory
    handle memory_type;           ///< for HDF5's own calls; they leave the swap to us
    int descriptor = -1;          ///< of the open file, for contiguous; borrowed from HDF5
    std::uint64_t file_offset = 0;
    std::string subject;  ///< FILE:/path
};

raw_access plan_access(const dataset& dataset, form form);

/// The fill value of an item as it lies in memory.
std::vector<std::byte> fill_item(const dataset& dataset, const raw_access& access);
/// Writes `bytes` bytes of copies of `item`.
void fill_memory(const std::vector<std::byte>& item, std::byte* memory, std::uint64_t bytes);

/// Rows [first, first + rows) of a dataset as an HDF5 selection, and memory as long.
struct row_selection {
    handle file_space, memory_space;
};
row_selection select_rows(const dataset& dataset, std::uint64_t first, std::uint64_t rows);

/// Rows that one call of H5Dread or H5Dwrite moves: whole chunks, a few MiB.
std::uint64_t rows_at_once(const dataset& dataset, std::uint64_t row_bytes);

}  // namespace lookback::io
