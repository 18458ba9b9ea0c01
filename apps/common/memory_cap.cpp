#include "common/memory_cap.hpp"

#include "common/size.hpp"

#include <lookback/error.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace lookback::apps {

void require_memory(const common_options& common, std::uint64_t bytes, std::string_view work,
                    std::string_view advice) {
    const std::uint64_t machine = memory_of_machine();
    const bool capped = common.memory != 0 && common.memory < machine;
    const std::uint64_t allowed = capped ? common.memory : machine;
    if (bytes <= allowed) return;
    throw error(error_kind::out_of_memory,
                fmt::format("{} needs {} of memory, and {} {}; {}, or {}", work, size_text(bytes),
                            capped ? "--memory allows" : "this machine has", size_text(allowed),
                            capped ? "raise --memory" : "use a larger machine", advice));
}

std::uint64_t chunk_bytes(const io::dataset& source, const io::storage_options& storage) {
    constexpr std::uint64_t most = std::uint64_t{1} << 32;  // of HDF5
    const bool chunked = !source.chunk().empty();
    if (source.shape().dims.empty() || (!chunked && !storage.chunk_rows)) return 0;
    std::uint64_t inner = chunked ? 1 : source.row_items();
    for (std::size_t k = 1; k < source.chunk().size(); ++k) inner *= source.chunk()[k];
    const std::uint64_t now = chunked ? source.chunk()[0] * inner * source.type().bytes : 0;
    const std::uint64_t rows = std::min(
        storage.chunk_rows.value_or(chunked ? source.chunk()[0] : 0), source.shape().max_dims[0]);
    const std::uint64_t row_bytes =
        inner * (storage.type ? size_of(*storage.type) : source.type().bytes);
    const std::uint64_t later = row_bytes == 0 ? 0 : std::min(rows, most / row_bytes) * row_bytes;
    return std::max(now, later);
}

}  // namespace lookback::apps
