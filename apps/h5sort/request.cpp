#include "h5sort/request.hpp"

#include "common/refuse.hpp"
#include "common/size.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps::h5sort {
namespace {

option_group order_options() {
    option_group group{"What to sort by", {}};
    auto add = group.options.add_options();
    add("key,k", list_option("NAME[:desc][:nan-first]"),
        "sort rows by this column; give it again for further keys. Compound fields (also a.b), "
        "columns of a group, and x[2] for one column of 2-D data. Suffixes: :asc, :desc, "
        ":nan-first, :nan-last. Default: the values");
    add("reverse,r", flag_option(), "descending, for every key without :asc or :desc");
    add("segments", text_option("OFFSETS"),
        "sort inside each segment; OFFSETS is a dataset of segments + 1 offsets: a name beside "
        "the input, /path, or FILE:/path");
    return group;
}

option_group work_options() {
    option_group group{"What to do", {}};
    auto add = group.options.add_options();
    add("unique,u", flag_option(), "keep the first row of each equal key; with -c: no equal keys");
    add("check,c", flag_option(), "say where the input is not sorted (exit 1); sort nothing");
    add("check-quiet,C", flag_option(), "like -c, without a word");
    add("merge,m", flag_option(), "merge inputs that are sorted already");
    add("head", text_option("N"), "write the first N rows only");
    add("columns", list_option("A,B"), "these columns of the table (default: all)");
    return group;
}

option_group output_options() {
    option_group group{"Output", {}};
    add_output_options(group.options);
    auto add = group.options.add_options();
    add("index", text_option("NAME"),
        "write the permutation (argsort, int64) as NAME beside the output");
    add("index-only", flag_option(), "write the permutation of --index and nothing else");
    add("copy-rest", flag_option(), "copy the group's other objects as they are");
    return group;
}

bool strip_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

// One name in double quotes, as in the other options: "odd:name":desc.
bool is_quoted(std::string_view text) {
    return text.size() > 2 && text.starts_with('"') && text.ends_with('"');
}

void refuse_contradictions(const command_line& line) {
    for (const char* check : {"check", "check-quiet"}) {
        for (const char* other : {"output", "index", "head", "merge"}) {
            refuse_pair(line, check, other, "a check only reads");
        }
    }
    for (const char* other : {"unique", "head", "merge"}) {
        refuse_pair(line, "segments", other, "the segments would change");
    }
    if (line.flag("index-only") && !line.has("index")) {
        refuse("--index-only needs --index NAME, the name of the permutation");
    }
}

void read_inputs(const command_line& line, request& wanted) {
    if (line.inputs.empty()) refuse("no input given; usage: h5sort IN [-k KEY]... -o OUT");
    if (line.inputs.size() > 1 && !wanted.merge) {
        refuse(
            fmt::format("{} inputs given ('{}', '{}', ...); sort one at a time with -o OUT, or "
                        "merge sorted ones with -m",
                        line.inputs.size(), line.inputs[0], line.inputs[1]));
    }
    for (const std::string& input : line.inputs) {
        const address named = parse_address(input);
        const bool whole_file = named.object.empty();
        wanted.inputs.push_back(whole_file ? parse_address(input, line.text("dataset")) : named);
    }
    if (line.has("dataset") &&
        std::none_of(line.inputs.begin(), line.inputs.end(),
                     [](auto& input) { return parse_address(input).object.empty(); })) {
        parse_address(line.inputs[0], line.text("dataset"));
    }
}

void read_output(const command_line& line, request& wanted) {
    wanted.output = read_output_options(line);
    if (wanted.output.target.file.empty() && wanted.check == check_mode::off) {
        refuse("no output given; add -o FILE[:/PATH] (or -c to check the order only)");
    }
    wanted.copy_rest = line.flag("copy-rest");
    if (!wanted.common.tmp.empty() && !std::filesystem::is_directory(wanted.common.tmp)) {
        refuse(fmt::format("option '--tmp': '{}' is not a folder", wanted.common.tmp));
    }
}

}  // namespace

key_request parse_key(std::string_view text, bool reverse) {
    const std::string_view typed = text;
    key_request key;
    std::optional<bool> descending;
    std::optional<bool> nan_first;
    const auto set = [&](std::optional<bool>& what, bool value) {
        if (what.value_or(value) != value) {
            refuse(fmt::format("option '--key': '{}' contradicts itself", typed));
        }
        what = value;
    };
    for (;;) {
        if (strip_suffix(text, ":desc")) {
            set(descending, true);
        } else if (strip_suffix(text, ":asc")) {
            set(descending, false);
        } else if (strip_suffix(text, ":nan-first")) {
            set(nan_first, true);
        } else if (strip_suffix(text, ":nan-last")) {
            set(nan_first, false);
        } else {
            break;
        }
    }
    key.name = is_quoted(text) ? split_names("--key", text).front() : std::string(text);
    key.order = {descending.value_or(reverse), nan_first.value_or(false)};
    return key;
}

const app_description& description() {
    static const app_description text{
        "h5sort",
        "Sort the values of an HDF5 dataset, or the rows of a table, stably.",
        "  h5sort IN [-k NAME[:desc][:nan-first]]... -o OUT\n"
        "  h5sort -c IN [-k NAME]...\n"
        "  h5sort -m IN... [-k NAME]... -o OUT\n"
        "IN is FILE:/path, FILE::/path, or FILE alone where it holds one dataset or\n"
        "table. A table is a group of equally long datasets, compound rows (PyTables,\n"
        "pandas), or one dataset. -0.0 equals +0.0; NaN stands last (:nan-first: first)\n"
        "in both directions; strings compare by bytes; equal rows keep their order.\n",
        "  h5sort run.h5:/x -o sorted.h5                   the values of one dataset\n"
        "  h5sort run.h5:/events -k time -k energy:desc -o sorted.h5\n"
        "  h5sort run.h5:/x --index order --index-only -o run.h5     argsort into run.h5\n"
        "  h5sort -c run.h5:/events -k time && echo sorted\n"
        "  h5sort -m a.h5:/t b.h5:/t -k time -o all.h5\n"
        "  h5sort big.h5:/x -f SHUF -f GZIP=4 --chunk 65536 -o small.h5\n",
        {order_options(), work_options(), output_options()}};
    return text;
}

request read_request(const command_line& line) {
    request wanted;
    wanted.common = line.common;
    refuse_contradictions(line);
    wanted.merge = line.flag("merge");
    wanted.unique = line.flag("unique");
    if (line.flag("check")) wanted.check = check_mode::tell;
    if (line.flag("check-quiet")) wanted.check = check_mode::quiet;
    read_inputs(line, wanted);
    read_output(line, wanted);
    const bool reverse = line.flag("reverse");
    wanted.values_order.descending = reverse;
    for (const std::string& key : line.list("key")) wanted.keys.push_back(parse_key(key, reverse));
    wanted.index = line.text("index");
    wanted.index_only = line.flag("index-only");
    if (line.has("index") && wanted.index.find_first_not_of('/') == std::string::npos) {
        refuse("option '--index': an empty name; give one");
    }
    if (line.has("head")) {
        wanted.head = static_cast<std::uint64_t>(parse_count("--head", line.text("head"), 0));
    }
    wanted.segments = line.text("segments");
    for (const std::string& part : line.list("columns")) {
        for (std::string& name : split_names("--columns", part)) {
            wanted.columns.push_back(std::move(name));
        }
    }
    return wanted;
}

}  // namespace lookback::apps::h5sort
