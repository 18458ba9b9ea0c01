// Level lib/io, private: the lock around HDF5 and the one way to call it.
// Invariant: HDF5 runs on one thread at a time; a failed call throws error{io_error} in one line.
#pragma once

#include "io/handle.hpp"

#include <lookback/error.hpp>

#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <hdf5.h>

namespace lookback::io {

// What was being done, for the messages of more than one file.
inline constexpr std::string_view cannot_write = "cannot write";
inline constexpr std::string_view cannot_create = "cannot create the dataset";

/// Held around every call into HDF5 (recursive, for its callbacks). Debian's library has a lock of
/// its own; this one makes several calls one step, and works with builds that have none.
std::unique_lock<std::recursive_mutex> library_lock();

/// The lines of HDF5's error stack of this thread, innermost first; empties the stack.
std::vector<std::string> take_error_lines();

/// Throws error{io_error} "SUBJECT: ACTION: REASON", the reason taken from HDF5's error stack.
[[noreturn]] void throw_hdf5_error(std::string_view subject, std::string_view action,
                                   const std::source_location& where);

/// Throws error{io_error} "SUBJECT: ACTION: REASON".
[[noreturn]] void throw_io_error(std::string_view subject, std::string_view action,
                                 std::string_view reason);

/// Runs a call into HDF5 under the lock and returns its result; negative numbers and null pointers
/// are failures. `subject` is FILE or FILE:/object; `action` says what could not be done.
template <class Function>
auto checked(std::string_view subject, std::string_view action, Function&& function,
             const std::source_location& where = std::source_location::current()) {
    const auto lock = library_lock();
    const auto result = function();
    using result_type = std::remove_const_t<decltype(result)>;
    bool failed = false;
    if constexpr (std::is_pointer_v<result_type>) {
        failed = result == nullptr;
    } else {
        static_assert(std::is_signed_v<result_type>, "this call reports no failure: use the lock");
        failed = result < 0;
    }
    if (failed) throw_hdf5_error(subject, action, where);
    return result;
}

/// The same for calls that return an identifier.
template <class Function>
handle checked_handle(std::string_view subject, std::string_view action, Function&& function,
                      const std::source_location& where = std::source_location::current()) {
    return handle(checked(subject, action, static_cast<Function&&>(function), where));
}

/// Runs what reads a part that the work can do without. Returns what its error{io_error} says.
template <class Function>
std::optional<std::string> why_not_read(Function&& function) {
    try {
        function();
    } catch (const error& failure) {
        if (failure.kind() != error_kind::io_error) throw;
        return failure.what();
    }
    return std::nullopt;
}

}  // namespace lookback::io
