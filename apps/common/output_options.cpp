#include "common/output_options.hpp"

#include "common/size.hpp"
#include "io/file.hpp"

#include <lookback/error.hpp>

#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

namespace lookback::apps {
namespace {

// Files that may not exist yet.
// Of a name that begins at no folder, weakly_canonical() leaves a file that is not there as it is.
std::filesystem::path whole_path(const std::string& file) {
    std::error_code failure;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file, failure), failure);
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty() && whole_path(a) == whole_path(b);
}

void add_output_options(boost::program_options::options_description& options) {
    auto add = options.add_options();
    add("output,o", text_option("FILE[:/PATH]"),
        "where to write (default path: the input's); may be the input file");
    add("overwrite", flag_option(), "replace output objects that exist");
    add("truncate", flag_option(), "replace the output file as a whole");
    add("filter,f", list_option("FILTER"),
        "filters instead of the input's, in order: NONE, SHUF, GZIP=n, FLET, LZF, ... as h5repack");
    add("chunk", text_option("N"), "rows of a chunk, instead of the input's");
}

output_request read_output_options(const command_line& line) {
    output_request wanted;
    if (line.has("output")) wanted.target = parse_address(line.text("output"));
    if (same_file(line.common.json, wanted.target.file)) {
        throw error(error_kind::invalid_argument,
                    fmt::format("'{}' is both the output and the report; choose another name for "
                                "--json",
                                line.common.json));
    }
    refuse_pair(line, "overwrite", "truncate", "one replaces an object, the other the file");
    wanted.mode = {line.flag("overwrite"), line.flag("truncate")};
    if (line.has("filter")) {
        auto& filters = wanted.storage.filters.emplace();
        for (const std::string& text : line.list("filter")) {
            if (const auto filter = io::parse_filter(text)) filters.push_back(*filter);
        }
    }
    if (line.has("chunk")) {
        wanted.storage.chunk_rows =
            static_cast<std::uint64_t>(parse_count("--chunk", line.text("chunk"), 1));
    }
    return wanted;
}

std::string path_beside(std::string_view name, const std::string& path) {
    const bool absolute = name.starts_with('/');
    return io::normal_path(absolute ? std::string(name)
                                    : io::join_path(io::parent_path(path), std::string(name)));
}

}  // namespace lookback::apps
