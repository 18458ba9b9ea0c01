// Apps: the context of apps whose work the CPU does alone, whatever GPU is there.
#pragma once

#include "common/options.hpp"

#include <lookback/context.hpp>

#include <string_view>

namespace lookback::apps {

/// `work` is what the message says: "h5sort sorts". Throws error{backend_error} where --backend
/// asks for another backend.
context open_cpu_context(const common_options& common, std::string_view work);

}  // namespace lookback::apps
