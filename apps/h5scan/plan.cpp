#include "h5scan/plan.hpp"

#include "common/input.hpp"
#include "common/memory_cap.hpp"
#include "common/refuse.hpp"
#include "common/size.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace lookback::apps::h5scan {
namespace {

bool is_sum_or_product(scan_operator op) {
    return op == scan_operator::plus || op == scan_operator::multiplies;
}

bool is_bitwise(scan_operator op) {
    return op == scan_operator::bit_and || op == scan_operator::bit_or ||
           op == scan_operator::bit_xor;
}

std::string_view op_text(scan_operator op) {
    constexpr std::string_view texts[] = {"sum", "prod", "min", "max", "and", "or", "xor"};
    return texts[static_cast<int>(op)];
}

void require_arithmetic(const io::dataset& source) {
    const io::element_type& type = source.type();
    if (!type.key) {
        const std::string what = type.fields.empty()
                                     ? "which has no arithmetic"
                                     : "and rows of fields are not scanned; store the field as a "
                                       "dataset of its own";
        refuse(fmt::format("{} is {}, {}; name others with --columns", source.address(),
                           type.name(), what));
    }
}

scanned_column plan_column(const io::dataset& source, std::string path, const request& wanted) {
    require_arithmetic(source);
    const io::element_type& type = source.type();
    const bool number =
        type.kind == io::element_kind::integer || type.kind == io::element_kind::floating;
    data_type computed = *type.key;
    bool keeps_type = type.exact;
    if (wanted.dtype) {
        keeps_type = keeps_type && number && *wanted.dtype == computed;
        computed = *wanted.dtype;
    } else if (!number && is_sum_or_product(wanted.op)) {
        computed = data_type::i64;  // a count of true values is no bool
        keeps_type = false;
    }
    if (computed == data_type::f16) {
        refuse(fmt::format("{} is f16, which has no arithmetic here; add --dtype f32 or f64",
                           source.address()));
    }
    if (is_bitwise(wanted.op) && (computed == data_type::f32 || computed == data_type::f64)) {
        refuse(fmt::format("{} would be combined by '{}' as {}; bits of integers only",
                           source.address(), op_text(wanted.op), name_of(computed)));
    }
    return {source, computed, keeps_type, std::move(path)};
}

void plan_columns(plan& planned, const request& wanted) {
    const io::table& table = planned.input;
    const std::string base =
        wanted.output.target.object.empty() ? table.path() : wanted.output.target.object;
    if (table.kind() == io::table_kind::compound) {
        refuse(
            fmt::format("{}:{} holds rows of fields ({}); scan datasets of their own, or a group "
                        "of them",
                        table.file_path(), table.path(), table.datasets().front().type().name()));
    }
    for (const io::dataset& dataset : table.datasets()) {
        const bool tells_segments =
            (planned.by && planned.by->address() == dataset.address()) ||
            (planned.segments && planned.segments->address() == dataset.address());
        const bool alone = table.kind() == io::table_kind::single;
        if (tells_segments && !alone && wanted.columns.empty()) continue;
        const std::string name = dataset.path().substr(dataset.path().rfind('/') + 1);
        planned.columns.push_back(
            plan_column(dataset, alone ? base : io::join_path(base, name), wanted));
    }
    if (planned.columns.empty()) {
        refuse(fmt::format("{}:{} holds no column to scan but {} itself", table.file_path(),
                           table.path(), wanted.by));
    }
}

void require_integers(const io::dataset& segments) {
    const io::element_kind kind = segments.type().kind;
    if (kind == io::element_kind::integer && segments.shape().dims.size() == 1) return;
    refuse(fmt::format("{}: segments are told by one row of integers, and this is {}",
                       segments.address(), segments.description()));
}

void require_by(const io::dataset& by, const io::table& table) {
    const io::element_kind kind = by.type().kind;
    if (!by.type().key && kind != io::element_kind::fixed_string &&
        kind != io::element_kind::variable_string) {
        refuse(fmt::format("{} is {}, whose values cannot be compared", by.address(),
                           by.type().name()));
    }
    if (by.shape().dims.size() != 1 || by.rows() != table.rows()) {
        refuse(fmt::format("{} is {}; --by needs one value for each of the {} rows", by.address(),
                           by.description(), table.rows()));
    }
}

// What the process, HDF5 and the batches of a transfer take before any row is held.
constexpr std::uint64_t process_bytes = std::uint64_t{96} << 20;

std::uint64_t memory_needed(const plan& planned, const request& wanted, const context& context) {
    std::uint64_t widest = 0;
    std::uint64_t chunk = 0;
    for (const scanned_column& column : planned.columns) {
        const std::uint64_t items = planned.rows() * column.source.row_items();
        const std::uint64_t originals = wanted.op == scan_operator::multiplies ? 2 : 1;
        const std::uint64_t lane = column.source.row_items() > 1 ? planned.rows() : 0;
        io::storage_options storage = wanted.output.storage;
        storage.type = column.type;
        chunk = std::max(chunk, chunk_bytes(column.source, storage));
        widest = std::max(widest, (items * originals + lane) * size_of(column.type));
    }
    std::uint64_t segments = 0;
    if (planned.segments) segments = 3 * 8 * (planned.segments->rows() + 1);
    if (planned.by) segments = planned.rows() * (planned.by->type().bytes + 1 + 8);
    const auto threads = static_cast<std::uint64_t>(context.threads());
    return process_bytes + widest + segments + 3 * threads * chunk;
}

}  // namespace

std::uint64_t plan::bytes() const {
    std::uint64_t sum = 0;
    for (const scanned_column& column : columns) {
        sum += rows() * column.source.row_items() * size_of(column.type);
    }
    return sum;
}

plan make_plan(const request& wanted, const context& context) {
    plan planned{open_table(wanted.input, wanted.columns), {}, {}, {}, 0};
    if (!wanted.segments.empty()) {
        planned.segments = open_beside(wanted.segments, planned.input);
        require_integers(*planned.segments);
    }
    if (!wanted.by.empty()) {
        planned.by = open_beside(wanted.by, planned.input);
        require_by(*planned.by, planned.input);
    }
    if (wanted.convert) {
        if (planned.input.kind() != io::table_kind::single) {
            refuse(fmt::format("{}:{} is not one dataset; name the one to convert",
                               planned.input.file_path(), planned.input.path()));
        }
        require_integers(planned.input.datasets().front());
    }
    plan_columns(planned, wanted);
    planned.memory_bytes = memory_needed(planned, wanted, context);
    return planned;
}

void require_memory(const plan& planned, const request& wanted) {
    apps::require_memory(wanted.common, planned.memory_bytes,
                         address_of(planned.input) + ": scanning", "scan fewer --columns");
}

std::string work_text(const plan& planned, const request& wanted) {
    if (wanted.convert) {
        return fmt::format("convert {} to {}", name_of(wanted.convert->first),
                           name_of(wanted.convert->second));
    }
    const char* kind = wanted.reduce ? "" : wanted.exclusive ? "exclusive " : "inclusive ";
    std::string text = fmt::format("{}{}", kind, op_text(wanted.op));
    if (planned.segments) {
        text += fmt::format(" in segments {} ({})", planned.segments->address(),
                            name_of(wanted.segments_as));
    }
    if (planned.by) text += fmt::format(" in runs of {}", planned.by->address());
    if (wanted.reproducible) text += ", reproducible";
    return text;
}

std::string plan_text(const plan& planned, const request& wanted) {
    std::string text = fmt::format("read    {}:{}  {} rows\n", planned.input.file_path(),
                                   planned.input.path(), planned.rows());
    for (const scanned_column& column : planned.columns) {
        text +=
            fmt::format("          {}  {}\n", column.source.path(), column.source.description());
    }
    text += fmt::format("scan    {}\n", work_text(planned, wanted));
    for (const scanned_column& column : planned.columns) {
        text += fmt::format("write   {}:{}  {}\n", wanted.output.target.file, column.path,
                            name_of(column.type));
    }
    return text + fmt::format("memory  at most {}\n", size_text(planned.memory_bytes));
}

}  // namespace lookback::apps::h5scan
