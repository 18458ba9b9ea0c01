// Level lib/io, private: the creation properties and dataspace of a new dataset.
// Invariant: what HDF5 would refuse (chunks of empty or scalar datasets, chunks larger than a fixed
// dimension or than 4 GiB) is left out or cut instead.
#pragma once

#include "io/output.hpp"

#include <cstdint>
#include <string>

namespace lookback::io {

struct creation {
    handle properties;
    handle space;
    std::string notice;  ///< a filter of the source that is not taken over, for the user
};

/// The type of new datasets in the file: IEEE and two's complement, little-endian.
handle file_type(data_type type);

/// For a dataset like `source` with `rows` rows.
creation creation_like(const std::string& subject, const dataset& source, std::uint64_t rows,
                       const storage_options& storage);

/// For a new 1-D dataset of items of `item_bytes` bytes; `beside` gives chunk rows and filters
/// where the options do not.
creation creation_new(const std::string& subject, std::size_t item_bytes, std::uint64_t rows,
                      const storage_options& storage, const dataset* beside);

}  // namespace lookback::io
