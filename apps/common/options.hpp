// Apps: the command line of every app, over Boost.Program_options, and the help made from it.
// Invariant: the command line wins over --config; a repeated option counts as its last value,
// except where it collects values (std::vector).
#pragma once

#include <lookback/context.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

namespace lookback::apps {

enum class progress_mode { automatic, on, off };

/// What every app understands.
struct common_options {
    lookback::backend backend = lookback::backend::automatic;
    int threads = 0;           ///< 0 = every core this process may use
    std::uint64_t memory = 0;  ///< hard cap in bytes; 0 = none
    std::string tmp;           ///< folder for temporary files; empty = beside the output
    progress_mode progress = progress_mode::automatic;
    std::string json;  ///< where the report goes; empty = nowhere, "-" = stdout
    bool dry_run = false;
    bool verbose = false;
    bool quiet = false;
};

/// Options under a title of --help.
struct option_group {
    std::string title;
    boost::program_options::options_description options;
};

/// What one app is and understands. `groups` holds its own options; the common ones are added.
struct app_description {
    std::string_view name;      ///< "h5sort"
    std::string_view summary;   ///< one sentence
    std::string_view synopsis;  ///< lines of usage without the word "usage"
    std::string_view examples;  ///< lines of --help's last part
    std::vector<option_group> groups;
};

struct command_line {
    boost::program_options::variables_map values;
    common_options common;
    std::vector<std::string> inputs;  ///< in the order given

    bool flag(const char* name) const { return values[name].as<bool>(); }
    bool has(const char* name) const { return values.count(name) != 0; }
    /// The value of an option, empty where it was not given.
    std::string text(const char* name) const;
    std::vector<std::string> list(const char* name) const;
};

/// Throws error{invalid_argument}: an unknown option names the nearest one. With --help and
/// --version nothing else is required of the line.
command_line parse_command_line(const app_description& app, int argc, const char* const* argv);

/// The text of --help: usage, the app's groups, the common options, examples, exit codes.
std::string help_text(const app_description& app);

/// An option of kind text or list, or a flag, for use with options_description::add.
boost::program_options::value_semantic* text_option(const char* placeholder);
boost::program_options::value_semantic* list_option(const char* placeholder);
boost::program_options::value_semantic* flag_option();

/// Whether the option stands on the line or in the config file (a flag: and is on).
bool given(const command_line& line, const char* name);

/// Throws error{invalid_argument} where both options are given.
void refuse_pair(const command_line& line, const char* first, const char* second,
                 std::string_view why);

/// "a,b" as names, in order; a name may stand in double quotes. Empty names are an error.
std::vector<std::string> split_names(std::string_view option, std::string_view text);

/// The candidate nearest to `word` (Damerau-Levenshtein), empty where none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace lookback::apps
