// Level lib/io, private: HDF5's shuffle filter and its inverse, with or without a byte swap.
// Invariant: bytes after the last whole item stay in place. Source: HDF5, H5Zshuffle.c (format).
#pragma once

#include <cstddef>

namespace lookback::io {

enum class plane_order { as_stored, swapped };

/// Splits items into planes of their first, second, ... bytes. `out` must not overlap `in`;
/// `swapped` shuffles the items as if their bytes were reversed before.
void shuffle(const std::byte* in, std::size_t bytes, std::size_t item_bytes, plane_order order,
             std::byte* out);

/// The inverse; `swapped` gives the items with their bytes reversed.
void unshuffle(const std::byte* in, std::size_t bytes, std::size_t item_bytes, plane_order order,
               std::byte* out);

}  // namespace lookback::io
