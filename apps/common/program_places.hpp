// Apps: where the registers of a program lie while blocks of rows go through them.
// Invariant: registers share memory where one is read for the last time before the other is
// written.
#pragma once

#include "common/program.hpp"

#include <cstddef>
#include <vector>

namespace lookback::apps {

struct register_places {
    std::vector<std::size_t> offsets;  ///< in bytes, of each register
    std::size_t bytes;                 ///< of all
};

/// For blocks of so many rows.
register_places places_of(const program& of, std::size_t rows);

}  // namespace lookback::apps
