#include "common/address.hpp"

#include "io/file.hpp"

#include <lookback/error.hpp>

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace lookback::apps {
namespace {

// Every reading of the text as a file and an object, the last split first.
std::vector<address> possible_splits(std::string_view text) {
    std::vector<address> splits;
    for (std::size_t at = text.size(); at-- > 0;) {
        if (text[at] != ':' || at + 1 == text.size()) continue;
        const char next = text[at + 1];
        if (next == ':') {
            splits.push_back({std::string(text.substr(0, at)),
                              io::normal_path(std::string(text.substr(at + 2)))});
        } else if (next == '/') {
            const bool doubled = at > 0 && text[at - 1] == ':';
            const std::size_t end = doubled ? at - 1 : at;
            splits.push_back({std::string(text.substr(0, end)),
                              io::normal_path(std::string(text.substr(at + 1)))});
            at = end;
        }
    }
    return splits;
}

bool is_file(const std::string& name) {
    std::error_code ignored;
    return !name.empty() && std::filesystem::exists(name, ignored) &&
           !std::filesystem::is_directory(name, ignored);
}

}  // namespace

std::string address::text() const {
    return object.empty() ? file : file + ":" + object;
}

address parse_address(std::string_view text, std::string_view dataset) {
    const address whole{std::string(text), {}};
    const std::vector<address> splits = possible_splits(text);
    if (!dataset.empty()) {
        if (splits.empty() || is_file(whole.file))
            return {whole.file, io::normal_path(std::string(dataset))};
        throw error(error_kind::invalid_argument,
                    fmt::format("'{}' already names an object; leave it out or leave out "
                                "--dataset {}",
                                text, dataset));
    }
    address chosen = splits.empty() ? whole : splits.front();
    if (!is_file(chosen.file)) {
        if (is_file(whole.file)) chosen = whole;
        for (const address& split : splits) {
            if (is_file(chosen.file)) break;
            if (is_file(split.file)) chosen = split;
        }
    }
    if (chosen.file.empty()) {
        throw error(error_kind::invalid_argument,
                    fmt::format("'{}' names no file; write FILE:/path", text));
    }
    return chosen;
}

address parse_beside(std::string_view text, const address& input) {
    if (text.empty()) {
        throw error(error_kind::invalid_argument,
                    "an empty name; give a dataset beside the input, /path, or FILE:/path");
    }
    if (text.front() == '/' && possible_splits(text).empty() && !is_file(std::string(text))) {
        return {input.file, io::normal_path(std::string(text))};
    }
    address elsewhere = parse_address(text);
    if (is_file(elsewhere.file) && !elsewhere.object.empty()) return elsewhere;
    if (text.front() == '/') return {input.file, io::normal_path(std::string(text))};
    return {input.file, io::join_path(io::parent_path(input.object), std::string(text))};
}

}  // namespace lookback::apps
