// Level lib/io, private: the sources of virtual datasets.
// Invariant: a virtual dataset whose source is missing is refused, where HDF5 reads fill values.
#pragma once

#include "io/dataset.hpp"

namespace lookback::io {

/// Throws error{io_error} that names the first source file or dataset that is missing, also behind
/// a source that is virtual itself, and where a dataset is made of itself.
void require_virtual_sources(const file& file, const dataset& dataset);

}  // namespace lookback::io
