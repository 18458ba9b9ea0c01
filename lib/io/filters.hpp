// Level lib/io, private: which filters there are, and where missing ones come from.
// Invariant: a missing plugin is named with its id and the Debian package that has it.
#pragma once

#include "io/dataset.hpp"

#include <span>
#include <string>
#include <vector>

namespace lookback::io {

/// "gzip 4", "shuffle", "lzf", "filter 307 (bzip2)": for descriptions.
std::string filter_text(const filter& filter);

/// Throws error{io_error} where HDF5 cannot decode (or also encode) one of the filters.
void require_filters(const std::string& subject, std::span<const filter> filters, bool encode);

/// The filters of a dataset creation property list.
std::vector<filter> filters_of(const std::string& subject, const handle& creation_properties);

/// The filters for rows in another order, or for other values: those that change values
/// (scale-offset of real numbers or of a fixed number of bits, zfp, SZ ...) are replaced by
/// lossless compression.
struct lossless_filters {
    std::vector<filter> filters;
    std::string lost;  ///< the names of those that are replaced; empty = none
};
lossless_filters without_loss(std::span<const filter> filters, bool retyped);

/// Replaces the filters of a dataset creation property list.
void set_filters(const std::string& subject, const handle& creation_properties,
                 std::span<const filter> filters);

}  // namespace lookback::io
