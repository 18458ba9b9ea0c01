// Level lib/io, private: the LZF format, h5py's own compression (filter 32000).
// Invariant: no read or write outside the given spans, whatever the bytes. Source: the format of
// Marc Lehmann's liblzf; the code is this project's. Debian's plugin cannot be loaded (its library
// is not linked to it), so LZF works here without one.
#pragma once

#include <cstddef>
#include <span>

namespace lookback::io {

/// Bytes written to `out`; 0 where the data are damaged or do not fit.
std::size_t lzf_decode(std::span<const std::byte> in, std::span<std::byte> out);

/// Bytes written to `out`; 0 where the result would not fit.
std::size_t lzf_encode(std::span<const std::byte> in, std::span<std::byte> out);

/// Makes HDF5 itself know the filter, unless a plugin has done so.
void register_lzf();

}  // namespace lookback::io
