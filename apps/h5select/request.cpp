#include "h5select/request.hpp"

#include "common/refuse.hpp"
#include "common/size.hpp"

#include <lookback/error.hpp>

#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps::h5select {
namespace {

option_group rows_group() {
    option_group group{"Which rows", {}};
    auto add = group.options.add_options();
    add("where", text_option("EXPR"),
        "rows for which EXPR holds: columns by name (\"odd name\" quoted, x[2], a.b), 'text', "
        "row; + - * / % < <= == != >= > && || ! and or not in (..) between a and b & | ^ << >> "
        "isnan isfinite abs min max floor sqrt");
    add("mask", text_option("DATASET"),
        "rows whose value there is true or not 0: a name beside the input, /path, or FILE:/path");
    add("rows", text_option("A:B[:STEP]"), "rows A to B - 1; negative numbers count from the end");
    add("invert", flag_option(), "the other rows instead");
    add("unique", list_option("A,B"),
        "of neighbouring rows that pass and are equal in these columns, the first alone");
    return group;
}

option_group result_group() {
    option_group group{"What comes out", {}};
    auto add = group.options.add_options();
    add("columns", list_option("A,B"), "these columns of the table (default: all)");
    add("count", flag_option(), "print the number of rows kept; needs no -o");
    add("explain", flag_option(),
        "print flags, offsets, kept rows and length for a small input; needs no -o");
    add("indices", text_option("NAME"),
        "write the numbers of the rows kept (int64) as NAME beside the output");
    add("rest", text_option("FILE[:/PATH]"), "write the rows that are not kept there, in order");
    add("copy-rest", flag_option(), "copy the group's other objects as they are");
    return group;
}

option_group output_group() {
    option_group group{"Output", {}};
    add_output_options(group.options);
    return group;
}

std::vector<std::string> names(const command_line& line, const char* option) {
    std::vector<std::string> all;
    for (const std::string& part : line.list(option)) {
        for (std::string& name : split_names(std::string("--") + option, part)) {
            all.push_back(std::move(name));
        }
    }
    return all;
}

void refuse_contradictions(const command_line& line) {
    constexpr const char* why = "each says which rows to keep";
    refuse_pair(line, "where", "mask", why);
    refuse_pair(line, "where", "rows", why);
    refuse_pair(line, "mask", "rows", why);
    const bool any = given(line, "where") || given(line, "mask") || given(line, "rows");
    if (!any && !given(line, "unique")) {
        refuse("nothing says which rows to keep; add --where EXPR, --mask DATASET or --rows A:B");
    }
    if (given(line, "invert") && !any) {
        refuse("--invert needs --where, --mask or --rows, which it turns round");
    }
    if (line.has("indices") && !line.has("output")) {
        refuse("--indices NAME needs -o FILE, beside which it is written");
    }
}

}  // namespace

row_slice parse_slice(std::string_view text) {
    const auto bad = [&] {
        refuse(
            fmt::format("option '--rows': '{}' is not A:B or A:B:STEP, as in 10:20 or ::2", text));
    };
    std::vector<std::optional<std::int64_t>> parts;
    std::string_view left = text;
    for (bool more = true; more;) {
        const std::size_t colon = left.find(':');
        more = colon != std::string_view::npos;
        const std::string_view part = left.substr(0, colon);
        if (part.empty()) {
            parts.emplace_back();
        } else {
            std::int64_t number = 0;
            const auto [rest, failure] =
                std::from_chars(part.data(), part.data() + part.size(), number);
            const bool beyond = failure == std::errc::result_out_of_range;
            if ((failure != std::errc() && !beyond) || rest != part.data() + part.size()) bad();
            // Bounds outside are cut, however far.
            if (beyond)
                number = part.front() == '-' ? std::numeric_limits<std::int64_t>::min()
                                             : std::numeric_limits<std::int64_t>::max();
            parts.emplace_back(number);
        }
        if (more) left.remove_prefix(colon + 1);
    }
    if (parts.size() < 2 || parts.size() > 3) bad();
    row_slice slice{parts[0], parts[1], 1};
    if (parts.size() == 3) slice.step = parts[2].value_or(1);
    if (slice.step < 1) {
        refuse(
            fmt::format("option '--rows': the step is {}; rows keep their order, so it must be "
                        "at least 1",
                        slice.step));
    }
    return slice;
}

const app_description& description() {
    static const app_description text{
        "h5select",
        "Keep the rows of an HDF5 dataset or table that pass a condition, in order.",
        "  h5select IN (--where EXPR | --mask DATASET | --rows A:B[:STEP]) -o OUT\n"
        "  h5select IN (--where EXPR | ...) --count\n"
        "IN is FILE:/path, FILE::/path, or FILE alone where it holds one dataset or\n"
        "table. A table is a group of equally long datasets, compound rows (PyTables,\n"
        "pandas), or one dataset. Integers compare exactly, also signed with unsigned;\n"
        "constants take the type of their column; NaN fails every comparison but !=.\n",
        "  h5select run.h5:/events --where 'energy > 5 && site in (\\'A\\', \\'B\\')' -o hot.h5\n"
        "  h5select run.h5:/x --where 'x between 0 and 1' --count\n"
        "  h5select run.h5:/events --mask good --rest bad.h5 -o good.h5\n"
        "  h5select run.h5:/events --rows -1000: -o tail.h5\n"
        "  h5select run.h5:/x --where 'x >= 5' --explain\n",
        {rows_group(), result_group(), output_group()}};
    return text;
}

request read_request(const command_line& line) {
    request wanted;
    wanted.common = line.common;
    if (line.inputs.size() != 1) {
        refuse(line.inputs.empty()
                   ? std::string("no input given; usage: h5select IN --where EXPR -o OUT")
                   : fmt::format("{} inputs given ('{}', '{}', ...); select from one at a time",
                                 line.inputs.size(), line.inputs[0], line.inputs[1]));
    }
    refuse_contradictions(line);
    wanted.input = parse_address(line.inputs.front(), line.text("dataset"));
    if (line.has("where")) wanted.where = line.text("where");
    if (line.has("mask")) {
        wanted.mask = line.text("mask");
        if (wanted.mask.empty()) refuse("option '--mask': an empty name; give a dataset");
    }
    if (line.has("rows")) wanted.slice = parse_slice(line.text("rows"));
    wanted.invert = line.flag("invert");
    wanted.unique = names(line, "unique");
    wanted.columns = names(line, "columns");
    wanted.count = line.flag("count");
    wanted.explain = line.flag("explain");
    wanted.copy_rest = line.flag("copy-rest");
    wanted.indices = line.text("indices");
    if (line.has("indices") && wanted.indices.find_first_not_of('/') == std::string::npos) {
        refuse("option '--indices': an empty name; give one");
    }
    wanted.output = read_output_options(line);
    if (line.has("rest")) wanted.rest = parse_address(line.text("rest"));
    if (!wanted.writes() && !wanted.count && !wanted.explain) {
        refuse("no output given; add -o FILE[:/PATH] (or --count for the number of rows only)");
    }
    if (!wanted.common.tmp.empty() && !std::filesystem::is_directory(wanted.common.tmp)) {
        refuse(fmt::format("option '--tmp': '{}' is not a folder", wanted.common.tmp));
    }
    return wanted;
}

}  // namespace lookback::apps::h5select
