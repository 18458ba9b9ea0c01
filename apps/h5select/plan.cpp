#include "h5select/plan.hpp"

#include "common/column_place.hpp"
#include "common/input.hpp"
#include "common/memory_cap.hpp"
#include "common/output_table.hpp"
#include "common/refuse.hpp"
#include "common/size.hpp"
#include "h5select/held_rows.hpp"
#include "io/stream.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps::h5select {
namespace {

bool is_text(const io::element_type& type) {
    return type.kind == io::element_kind::fixed_string ||
           type.kind == io::element_kind::variable_string;
}

// The names of an enum's values, which stand for them in conditions.
std::vector<std::pair<std::string, int128>> names_of(const io::element_type& type) {
    std::vector<std::pair<std::string, int128>> names;
    const bool has_names =
        type.kind == io::element_kind::enumeration || type.kind == io::element_kind::boolean;
    if (!has_names || !type.key) return names;
    for (io::enum_value& value : io::enum_values(type)) {
        const bool is_signed = *type.key <= data_type::i64;
        names.emplace_back(
            std::move(value.name),
            is_signed ? int128{static_cast<std::int64_t>(value.bits)} : int128{value.bits});
    }
    return names;
}

class planner {
public:
    planner(plan& planned, const request& wanted) : plan_(planned), wanted_(wanted) {}

    void run() {
        if (wanted_.where) {
            const expression tree = parse_expression(*wanted_.where);
            plan_.condition = compile(tree, [&](const std::string& name, std::size_t column) {
                return condition_input(name, column);
            });
        }
        if (!wanted_.mask.empty()) read_mask();
        if (wanted_.slice) plan_.slice = bounded(*wanted_.slice);
        for (const std::string& name : wanted_.unique) {
            auto found = find_column(plan_.input, name);
            if (!found) refuse(unknown(name, "--unique"));
            plan_.unique.push_back(column_of(*found));
        }
    }

private:
    std::string unknown(const std::string& name, std::string_view where) const {
        std::vector<std::string> names = names_to_choose(plan_.input);
        const std::string near = nearest(name, names);
        return fmt::format("{}: there is no column '{}' for {}; the columns are {}{}",
                           address_of(plan_.input), name, where, fmt::join(names, ", "),
                           near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    }

    std::size_t stream_of(const io::dataset& dataset, io::form form) {
        for (std::size_t s = 0; s < plan_.streams.size(); ++s) {
            const stream& known = plan_.streams[s];
            if (known.dataset.address() == dataset.address() && known.form == form &&
                known.dataset.projected() == dataset.projected()) {
                return s;
            }
        }
        plan_.streams.push_back({dataset, form});
        return plan_.streams.size() - 1;
    }

    stream_column column_of(const named_column& found) {
        // What is not stored as its key is comes through HDF5's conversion.
        const bool converted = !found.field && found.type.key && !found.type.exact;
        const io::form form = converted ? io::form::native : io::form::stored;
        stream_column column;
        column.stream = stream_of(found.dataset, form);
        column.offset = found.field ? found.field->offset : 0;
        column.bytes = found.field ? found.field->type.bytes
                       : converted ? found.type.item_bytes(form)
                                   : found.dataset.row_bytes(form);
        column.type = found.type;
        column.swapped = !converted && found.type.swapped;
        return column;
    }

    // The value as a condition can use it.
    program_input input_of(const named_column& found, const std::string& name,
                           const std::string& where) {
        const io::element_type& type = found.type;
        if (!found.field && found.dataset.row_items() != 1) {
            refuse(fmt::format("{}{} has {} values a row; name one: {}[0]", where,
                               found.dataset.address(), found.dataset.row_items(),
                               base_name(found.dataset)));
        }
        if (type.kind == io::element_kind::array) {
            refuse(fmt::format("{}'{}' has {} values a row; name one: {}[0]", where, name,
                               type.elements, name));
        }
        const bool usable = is_text(type) || (type.key && (type.exact || !found.field));
        if (!usable) {
            refuse(fmt::format(
                "{}'{}' is {}, whose values cannot be compared{}", where, name, type.name(),
                type.fields.empty()
                    ? ""
                    : fmt::format("; name a field: {}.{}", name, type.fields.front().name)));
        }
        program_input input{name,
                            is_text(type),
                            type.kind == io::element_kind::boolean,
                            type.key.value_or(data_type::u8),
                            type.space_padded,
                            names_of(type)};
        plan_.columns.push_back(column_of(found));
        return input;
    }

    program_input condition_input(const std::string& name, std::size_t column) {
        const auto found = find_column(plan_.input, name);
        if (!found) {
            const bool quoted = wanted_.where->substr(column - 1, 1) == "\"";
            refuse_expression(column, unknown(name, "--where") +
                                          (quoted ? "; text stands in single quotes" : ""));
        }
        return input_of(*found, name, fmt::format("the expression, at column {}: ", column));
    }

    void read_mask() {
        const io::dataset mask = open_beside(wanted_.mask, plan_.input);
        if (mask.shape().dims.empty() || mask.rows() != plan_.rows()) {
            refuse(fmt::format("{} has {} rows, and {} has {}; a mask has one value a row",
                               mask.address(), mask.rows(), address_of(plan_.input), plan_.rows()));
        }
        const io::element_kind kind = mask.type().kind;
        const bool whole = kind == io::element_kind::integer || kind == io::element_kind::boolean ||
                           kind == io::element_kind::enumeration ||
                           kind == io::element_kind::bit_field;
        if (!whole || !mask.type().key || mask.row_items() != 1) {
            refuse(fmt::format("{} is {}; a mask is one row of booleans or integers",
                               mask.address(), mask.description()));
        }
        const named_column found{mask, std::nullopt, std::nullopt, mask.type()};
        const expression tree{expression_kind::column, 1, "mask", {}, {}};
        plan_.condition = compile(
            tree, [&](const std::string& name, std::size_t) { return input_of(found, name, ""); });
    }

    row_slice bounded(const row_slice& slice) const {
        const auto rows = static_cast<std::int64_t>(plan_.rows());
        const auto bound = [&](std::optional<std::int64_t> at, std::int64_t otherwise) {
            if (!at) return otherwise;
            return std::clamp<std::int64_t>(*at < 0 ? *at + rows : *at, 0, rows);
        };
        return {bound(slice.begin, 0), bound(slice.end, rows), slice.step};
    }

    plan& plan_;
    const request& wanted_;
};

void set_output_paths(plan& planned, const request& wanted) {
    if (!wanted.output.target.file.empty()) {
        planned.output_path = output_path_of(wanted.input, planned.input, wanted.output.target);
    }
    if (wanted.rest) {
        planned.rest_path = output_path_of(wanted.input, planned.input, *wanted.rest);
        if (same_file(wanted.rest->file, wanted.output.target.file) &&
            planned.rest_path == planned.output_path) {
            refuse(fmt::format("option '--rest': {} is the output itself; give another path",
                               wanted.rest->text()));
        }
    }
    if (wanted.indices.empty()) return;
    planned.indices_path = path_beside(wanted.indices, planned.output_path);
    std::vector<std::string> written{planned.output_path};
    if (planned.input.kind() == io::table_kind::group) {
        for (const auto& name : planned.input.column_names()) {
            written.push_back(io::join_path(planned.output_path, name));
        }
    }
    if (std::find(written.begin(), written.end(), planned.indices_path) != written.end()) {
        refuse(fmt::format("option '--indices': {} is the output itself; give another name",
                           planned.indices_path));
    }
}

// What the process, HDF5 and its caches take before any row is read, and the bits of the rows.
constexpr std::uint64_t process_bytes = std::uint64_t{96} << 20;

std::uint64_t memory_needed(const plan& planned, const request& wanted, const context& context) {
    const io::storage_options& storage = wanted.output.storage;
    const auto threads = static_cast<std::uint64_t>(context.threads());
    const auto batch = [](const io::dataset& dataset, io::form form) {
        return std::min(io::batch_rows(dataset, form), std::max<std::uint64_t>(dataset.rows(), 1)) *
               dataset.row_bytes(form);
    };
    std::uint64_t deciding = 0;
    for (const stream& each : planned.streams) {
        deciding +=
            2 * batch(each.dataset, each.form) + 2 * threads * chunk_bytes(each.dataset, {});
    }
    std::uint64_t moving = 0;
    for (const io::dataset& each : planned.input.datasets()) {
        // Read ahead, compacted, and written behind, to both outputs.
        moving = std::max(
            moving, 8 * batch(each, io::form::stored) + 4 * threads * chunk_bytes(each, storage));
    }
    return process_bytes + std::max(deciding, moving);
}

}  // namespace

std::uint64_t plan::decision_bytes() const {
    std::uint64_t bytes = 0;
    for (const stream& each : streams) bytes += rows() * each.row_bytes();
    return bytes;
}

std::uint64_t plan::table_bytes() const {
    std::uint64_t bytes = 0;
    for (const io::dataset& each : input.datasets()) bytes += each.bytes(io::form::stored);
    return bytes;
}

plan make_plan(const request& wanted, const context& context) {
    plan planned;
    planned.input = open_table(wanted.input, wanted.columns);
    planner(planned, wanted).run();
    set_output_paths(planned, wanted);
    planned.memory_bytes = memory_needed(planned, wanted, context);
    plan_held_rows(planned, wanted);
    return planned;
}

void require_memory(const plan& planned, const request& wanted) {
    apps::require_memory(wanted.common, planned.memory_bytes,
                         address_of(planned.input) + ": selecting", "use smaller chunks");
}

std::string condition_text(const request& wanted) {
    std::string text;
    if (wanted.where) text = "where " + *wanted.where;
    if (!wanted.mask.empty()) text = "mask " + wanted.mask;
    if (wanted.slice) {
        const auto bound = [](std::optional<std::int64_t> at) {
            return at ? fmt::format("{}", *at) : std::string();
        };
        text = fmt::format("rows {}:{}:{}", bound(wanted.slice->begin), bound(wanted.slice->end),
                           wanted.slice->step);
    }
    if (wanted.invert) text = "not (" + text + ")";
    if (!wanted.unique.empty()) {
        text +=
            fmt::format("{}unique {}", text.empty() ? "" : ", ", fmt::join(wanted.unique, ", "));
    }
    return text;
}

std::string plan_text(const plan& planned, const request& wanted, const context& context) {
    std::string text =
        fmt::format("read    {}  {} rows\n", address_of(planned.input), planned.rows());
    for (const stream& each : planned.streams) {
        text += fmt::format("decide  {}  {}\n", each.dataset.path(), each.dataset.description());
    }
    text += fmt::format("keep    {}\n", condition_text(wanted));
    for (const io::dataset& each : planned.input.datasets()) {
        if (wanted.writes()) {
            text += fmt::format("move    {}  {}\n", each.path(), each.description());
        }
    }
    const auto target = [&](const std::string& file, const std::string& path,
                            std::string_view what) {
        text += fmt::format("write   {}:{}{}\n", file, path, what);
    };
    if (!planned.output_path.empty()) {
        target(wanted.output.target.file, planned.output_path, "");
    }
    if (wanted.rest) target(wanted.rest->file, planned.rest_path, "  the rows not kept");
    if (!planned.indices_path.empty()) {
        target(wanted.output.target.file, planned.indices_path, "  i64, the row numbers");
    }
    text +=
        fmt::format("with    {}, {} threads\n", planned.steps ? "cuda" : "cpu", context.threads());
    return text + fmt::format("memory  at most {}\n", size_text(planned.memory_bytes));
}

}  // namespace lookback::apps::h5select
