// Turning down what the user asked for: one line that names what is wrong, where and what to do.
#pragma once

#include <lookback/error.hpp>

#include <string>

namespace lookback::apps {

/// Throws an error of the kind invalid_argument; every app prints its text and exits with 2.
[[noreturn]] inline void refuse(const std::string& message) {
    throw error(error_kind::invalid_argument, message);
}

}  // namespace lookback::apps
