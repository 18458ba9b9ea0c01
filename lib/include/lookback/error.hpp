// Public API: the one exception type and its four kinds.
// Invariant: every failure of the library is one of these; messages name what, where, what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace lookback {

enum class error_kind { invalid_argument, out_of_memory, backend_error, io_error };

class error : public std::runtime_error {
public:
    error(error_kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    error_kind kind() const noexcept { return kind_; }

private:
    error_kind kind_;
};

}  // namespace lookback
