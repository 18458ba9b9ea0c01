#include "common/cpu_context.hpp"

#include <lookback/error.hpp>

#include <fmt/format.h>

namespace lookback::apps {

context open_cpu_context(const common_options& common, std::string_view work) {
    const bool chosen = common.backend != backend::automatic;
    context result({.backend = chosen ? common.backend : backend::cpu, .threads = common.threads});
    if (result.active_backend() == backend::cpu) return result;
    throw error(error_kind::backend_error,
                fmt::format("{} on the CPU; leave out --backend or give --backend cpu", work));
}

}  // namespace lookback::apps
