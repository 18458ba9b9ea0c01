#include "common/memory_cap.hpp"

#include "common/size.hpp"

#include <lookback/error.hpp>

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

}  // namespace lookback::apps
