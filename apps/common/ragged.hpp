// Apps: the four ways in which files store ragged arrays, and the ways between them.
// Invariant: offsets (segments + 1 of them, from 0, never decreasing, ending at the number of rows)
// are the common form; everything is computed in 64 bits and narrowed at the end, with a check.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lookback::apps {

enum class convention {
    offsets,  ///< n + 1 starts: CSR's indptr
    ends,     ///< n ends: NWB's *_index
    starts,   ///< n starts: NeXus' event_index
    counts,   ///< n lengths
};

std::string_view name_of(convention convention);
/// "offsets", "ends", "starts" or "counts"; `option` is named in the error.
convention parse_convention(std::string_view option, std::string_view text);

/// Offsets from values stored by a convention. `rows` is what they must cover; without it the
/// values decide, which starts cannot. `where` names the dataset in errors, which tell the first
/// position that is wrong. Throws error{invalid_argument}.
std::vector<std::int64_t> to_offsets(convention convention, std::span<const std::int64_t> values,
                                     std::optional<std::int64_t> rows, const std::string& where);

/// Values of a convention from valid offsets, in place of them.
std::vector<std::int64_t> from_offsets(convention convention, std::vector<std::int64_t> offsets);

}  // namespace lookback::apps
