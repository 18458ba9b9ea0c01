// Apps: how data are named on the command line, FILE:/path, FILE::/path, or FILE with --dataset.
// Invariant: the object is empty (the file's only dataset) or an absolute path without a slash at
// its end, "/" for the root group.
#pragma once

#include <string>
#include <string_view>

namespace lookback::apps {

struct address {
    std::string file;
    std::string object;

    /// FILE:/path, as messages show it.
    std::string text() const;
};

/// Splits at the last ":/" or "::". Where that leaves a file that does not exist, an earlier split
/// or the whole text is taken if it names one that does, so names with colons work. `dataset` is
/// the path of --dataset, empty where it was not given. Throws error{invalid_argument}.
address parse_address(std::string_view text, std::string_view dataset = {});

/// A dataset named in another option: a name beside `input` (in its group), an absolute path in
/// its file, or FILE:/path.
address parse_beside(std::string_view text, const address& input);

}  // namespace lookback::apps
