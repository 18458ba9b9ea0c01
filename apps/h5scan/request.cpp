#include "h5scan/request.hpp"

#include "common/refuse.hpp"
#include "common/size.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps::h5scan {
namespace {

option_group scan_group() {
    option_group group{"What to compute", {}};
    auto add = group.options.add_options();
    add("op", text_option("NAME"), "sum (default), prod, min, max, and, or, xor");
    add("inclusive", flag_option(), "value i is of the items up to and with i (default)");
    add("exclusive", flag_option(), "value i is of the items before i");
    add("init", text_option("V"), "start every segment with this value");
    add("reduce", flag_option(), "one value a segment (or one in all) instead of a scan");
    add("dtype", text_option("T"),
        "type to compute in and to write: i8..i64, u8..u64, f32, f64 (default: the input's)");
    add("overflow", text_option("error|wrap"),
        "what integers that do not fit do: error (default) names the first, wrap goes on");
    add("reproducible", flag_option(),
        "floating-point sums by one fixed tree: the same bits from every run and backend");
    add("strategy", text_option("NAME"),
        "how the GPU scans: automatic (default), single, three-launch, grid-barrier, lookback, "
        "bounded, fallback");
    return group;
}

option_group segment_group() {
    option_group group{"Segments", {}};
    auto add = group.options.add_options();
    add("segments", text_option("NAME"),
        "begin anew in each segment; NAME is a dataset: a name beside the input, /path, or "
        "FILE:/path");
    add("segments-as", text_option("WHAT"),
        "how NAME tells the segments: offsets (n + 1; default), ends, starts or counts (n each)");
    add("by", text_option("COLUMN"), "segments are the runs of equal neighbours in COLUMN");
    add("convert", text_option("FROM:TO"),
        "convert the input between the four kinds, as in counts:offsets; computes nothing else");
    add("length", text_option("N"), "number of items that the segments of --convert must cover");
    return group;
}

option_group output_group() {
    option_group group{"Output", {}};
    add_output_options(group.options);
    group.options.add_options()("columns", list_option("A,B"),
                                "these columns of a group (default: all)");
    return group;
}

template <class Value>
struct named {
    std::string_view name;
    Value value;
};

template <class Value, std::size_t Count>
Value look_up(std::string_view option, const std::array<named<Value>, Count>& table,
              std::string_view text) {
    std::string known;
    for (const auto& entry : table) {
        if (entry.name == text) return entry.value;
        known += (known.empty() ? "" : ", ") + std::string(entry.name);
    }
    refuse(fmt::format("option '{}': '{}' is none of {}", option, text, known));
}

constexpr std::array<named<scan_operator>, 7> operators{{{"sum", scan_operator::plus},
                                                         {"prod", scan_operator::multiplies},
                                                         {"min", scan_operator::minimum},
                                                         {"max", scan_operator::maximum},
                                                         {"and", scan_operator::bit_and},
                                                         {"or", scan_operator::bit_or},
                                                         {"xor", scan_operator::bit_xor}}};

constexpr std::array<named<data_type>, 10> types{{{"i8", data_type::i8},
                                                  {"i16", data_type::i16},
                                                  {"i32", data_type::i32},
                                                  {"i64", data_type::i64},
                                                  {"u8", data_type::u8},
                                                  {"u16", data_type::u16},
                                                  {"u32", data_type::u32},
                                                  {"u64", data_type::u64},
                                                  {"f32", data_type::f32},
                                                  {"f64", data_type::f64}}};

constexpr std::array<named<bool>, 2> overflow_modes{{{"error", false}, {"wrap", true}}};

void refuse_contradictions(const command_line& line) {
    refuse_pair(line, "inclusive", "exclusive", "choose one");
    refuse_pair(line, "exclusive", "reduce", "a reduction takes every item of its segment");
    refuse_pair(line, "segments", "by", "both tell the segments");
    for (const char* other : {"op", "inclusive", "exclusive", "init", "reduce", "segments",
                              "segments-as", "by", "columns", "reproducible", "strategy"}) {
        refuse_pair(line, "convert", other, "a conversion computes nothing else");
    }
    if (given(line, "segments-as") && !given(line, "segments")) {
        refuse("--segments-as needs --segments NAME, the dataset that tells the segments");
    }
    if (given(line, "length") && !given(line, "convert")) {
        refuse("--length goes with --convert; a scan knows the number of its items");
    }
}

void read_conversion(const command_line& line, request& wanted) {
    if (line.has("convert")) {
        const std::string text = line.text("convert");
        const std::size_t colon = text.find(':');
        if (colon == std::string::npos) {
            refuse(
                fmt::format("option '--convert': '{}' is not FROM:TO, as in counts:offsets", text));
        }
        wanted.convert.emplace(parse_convention("--convert", text.substr(0, colon)),
                               parse_convention("--convert", text.substr(colon + 1)));
    }
    if (line.has("length")) wanted.length = parse_count("--length", line.text("length"), 0);
}

void read_scan(const command_line& line, request& wanted) {
    if (line.has("op")) wanted.op = look_up("--op", operators, line.text("op"));
    wanted.exclusive = line.flag("exclusive");
    wanted.reduce = line.flag("reduce");
    wanted.init = line.text("init");
    if (line.has("init") && wanted.init.empty()) refuse("option '--init': an empty value");
    if (line.has("dtype")) wanted.dtype = look_up("--dtype", types, line.text("dtype"));
    if (line.has("overflow")) {
        wanted.wrap = look_up("--overflow", overflow_modes, line.text("overflow"));
    }
    wanted.reproducible = line.flag("reproducible");
    if (line.has("strategy")) {
        const std::string name = line.text("strategy");
        const auto strategy = parse_scan_strategy(name);
        if (!strategy) {
            refuse(fmt::format("option '--strategy': '{}' is none of {}", name,
                               fmt::join(scan_strategies, ", ")));
        }
        wanted.strategy = *strategy;
    }
    wanted.segments = line.text("segments");
    wanted.by = line.text("by");
    if (line.has("segments-as")) {
        wanted.segments_as = parse_convention("--segments-as", line.text("segments-as"));
    }
    for (const std::string& part : line.list("columns")) {
        for (std::string& name : split_names("--columns", part)) {
            wanted.columns.push_back(std::move(name));
        }
    }
}

}  // namespace

const app_description& description() {
    static const app_description text{
        "h5scan",
        "Prefix sums and their kin over HDF5 datasets, whole or by segments.",
        "  h5scan IN [--op NAME] [--exclusive] [--init V] -o OUT\n"
        "  h5scan IN (--segments NAME [--segments-as WHAT] | --by COLUMN) [--reduce] -o OUT\n"
        "  h5scan IN --convert FROM:TO [--length N] -o OUT\n"
        "IN is FILE:/path, FILE::/path, or FILE alone where it holds one dataset or\n"
        "table. Rows are scanned along the first dimension; of a group every column\n"
        "is. Integers that do not fit their type are an error that names the first\n"
        "(--dtype i64 gives them room, --overflow wrap lets them wrap).\n",
        "  h5scan run.h5:/counts --exclusive --dtype i64 -o out.h5:/starts\n"
        "  h5scan run.h5:/energy --segments event_index --segments-as starts --reduce -o sums.h5\n"
        "  h5scan trips.h5:/t --columns fare --by day -o running.h5\n"
        "  h5scan nwb.h5:/units/spike_times_index --convert ends:offsets -o out.h5:/indptr\n",
        {scan_group(), segment_group(), output_group()}};
    return text;
}

request read_request(const command_line& line) {
    refuse_contradictions(line);
    request wanted;
    wanted.common = line.common;
    if (line.inputs.size() != 1) {
        refuse(line.inputs.empty()
                   ? std::string("no input given; usage: h5scan IN -o OUT")
                   : fmt::format("{} inputs given ('{}', '{}', ...); scan one at a time",
                                 line.inputs.size(), line.inputs[0], line.inputs[1]));
    }
    wanted.input = parse_address(line.inputs.front(), line.text("dataset"));
    read_scan(line, wanted);
    read_conversion(line, wanted);
    wanted.output = read_output_options(line);
    if (wanted.output.target.file.empty()) refuse("no output given; add -o FILE[:/PATH]");
    return wanted;
}

}  // namespace lookback::apps::h5scan
