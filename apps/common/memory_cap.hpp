// Apps: the check of --memory before work starts.
#pragma once

#include "common/options.hpp"
#include "io/output.hpp"

#include <cstdint>
#include <string_view>

namespace lookback::apps {

/// Throws error{out_of_memory} where `bytes` is above --memory or what the machine has. `work` is
/// the message's subject ("f.h5:/x: sorting"), `advice` what to do about it ("sort fewer columns").
void require_memory(const common_options& common, std::uint64_t bytes, std::string_view work,
                    std::string_view advice);

/// Bytes of the larger of a dataset's chunk and of its result's, with these options; each thread of
/// a transfer holds two.
std::uint64_t chunk_bytes(const io::dataset& source, const io::storage_options& storage);

}  // namespace lookback::apps
