// lookback-bench: what a program that calls the HDF5 library itself does, as peer and as reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lookback::bench {

enum class layout { contiguous, gzip };  ///< gzip: chunks of 1 MiB, shuffle, gzip level 4

/// Writes FILE:/keys with H5Dwrite; returns the seconds of H5Dwrite and H5Fflush.
double write_with_hdf5(const std::string& path, layout layout, std::span<const std::uint64_t> keys);

/// Reads FILE:/keys with H5Dread into `keys`; returns the seconds of H5Dread.
double read_with_hdf5(const std::string& path, std::span<std::uint64_t> keys);

}  // namespace lookback::bench
