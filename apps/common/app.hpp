// Apps: what every main() does: parse, answer --help and --version, run, turn failures into one
// line and an exit code, leave nothing behind when stopped by a signal.
#pragma once

#include "common/exit_code.hpp"
#include "common/options.hpp"

#include <functional>

namespace lookback::apps {

/// The body of an app: options in, exit code out; it throws what goes wrong.
using app_body = std::function<exit_code(const command_line&)>;

/// Runs an app. Every exception becomes "NAME: error: ..." on stderr and exit code 2. Signals that
/// end the process remove unfinished outputs first.
int run_app(const app_description& app, int argc, const char* const* argv, const app_body& body);

/// A message as one line: line breaks and other control characters become spaces.
std::string one_line(std::string_view message);

}  // namespace lookback::apps
