#include "h5sort/plan.hpp"

#include "common/input.hpp"
#include "common/memory_cap.hpp"
#include "common/output_table.hpp"
#include "common/refuse.hpp"
#include "common/size.hpp"
#include "h5sort/key_place.hpp"
#include "io/range_writer.hpp"

#include <lookback/error.hpp>
#include <lookback/sort_stream.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps::h5sort {
namespace {

// Inputs of a merge are one table cut in pieces.
void require_alike(const io::table& first, const io::table& other) {
    const auto& a = first.datasets();
    const auto& b = other.datasets();
    if (first.column_names() != other.column_names() || first.kind() != other.kind()) {
        refuse(fmt::format("{} has the columns {}, and {} has {}; merge tables of the same columns",
                           address_of(other), fmt::join(other.column_names(), ", "),
                           address_of(first), fmt::join(first.column_names(), ", ")));
    }
    for (std::size_t c = 0; c < a.size(); ++c) {
        const bool same_shape = std::equal(
            a[c].shape().dims.begin() + !a[c].shape().dims.empty(), a[c].shape().dims.end(),
            b[c].shape().dims.begin() + !b[c].shape().dims.empty(), b[c].shape().dims.end());
        const bool same_type = io::same_type(a[c].type(), b[c].type());
        if (a[c].type().has_references && !same_file(first.file_path(), other.file_path())) {
            refuse(
                fmt::format("{} holds references to objects of its own file; merge tables of one "
                            "file, or leave the column out with --columns",
                            b[c].address()));
        }
        if (same_type && same_shape) continue;
        if (!same_type && a[c].type().name() == b[c].type().name()) {
            refuse(
                fmt::format("{} and {} are both {}, but differ inside (places of fields, values "
                            "of an enum, padding of strings); bring them to one type first",
                            b[c].address(), a[c].address(), a[c].type().name()));
        }
        refuse(fmt::format("{} is {}, and {} is {}; merge columns of the same type", b[c].address(),
                           b[c].description(), a[c].address(), a[c].description()));
    }
}

std::optional<io::dataset> open_segments(const request& wanted, const io::table& table) {
    if (wanted.segments.empty()) return std::nullopt;
    io::dataset offsets = open_beside(wanted.segments, table);
    const auto kind = offsets.type().kind;
    if (kind != io::element_kind::integer || !offsets.type().key ||
        offsets.shape().dims.size() != 1) {
        refuse(fmt::format("{}: segment offsets are one row of integers, and this is {}",
                           offsets.address(), offsets.description()));
    }
    return offsets;
}

bool is_narrow(std::uint64_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

strategy choose_strategy(const plan& planned, const request& wanted) {
    const bool only_values = wanted.index.empty() && !planned.segments && planned.keys.size() == 1;
    const key_column& key = planned.keys.front();
    if (!only_values || key.is_string() || !key.type.exact) return strategy::index;
    const auto& datasets = planned.first().datasets();
    if (datasets.size() == 1 && key.is_column()) return strategy::keys;
    const bool in_rows = datasets.size() == 1 && key.field && key.column;
    const bool beside = datasets.size() == 2 && key.is_column();
    if (!in_rows && !beside) return strategy::index;
    return is_narrow(datasets[key.payload()].row_bytes(io::form::stored)) ? strategy::pairs
                                                                          : strategy::index;
}

// Whether values can be sorted between reading and writing: both sides come in blocks that a thread
// can hold, and the rows are known before the sorting.
bool can_stream(const plan& planned, const request& wanted) {
    if (planned.how != strategy::keys || wanted.merge || wanted.unique) return false;
    const io::storage_options& storage = wanted.output.storage;
    const bool as_input = !storage.filters && !storage.chunk_rows;
    return as_input &&
           io::range_writer::suits(planned.keys.front().parts.front(), planned.keys.front().form());
}

// What the process, HDF5 and its caches take before any row is read.
constexpr std::uint64_t process_bytes = std::uint64_t{48} << 20;
// Batches of the transfer stages, beside two chunks a thread.
constexpr std::uint64_t batch_bytes = std::uint64_t{8} << 20;

std::uint64_t transfer_bytes(const plan& planned, const request& wanted, int threads) {
    std::uint64_t widest = 0;
    for (const auto& dataset : planned.first().datasets()) {
        widest = std::max(widest, chunk_bytes(dataset, wanted.output.storage));
    }
    return static_cast<std::uint64_t>(threads) * (3 * widest + batch_bytes);
}

std::uint64_t index_memory(const plan& planned, const request& wanted, const context& context) {
    const std::uint64_t heads = wanted.unique ? planned.rows : 0;
    const std::uint64_t rows_held = planned.hold_rows ? planned.table_bytes() : 0;
    const std::uint64_t sorting =
        rows_held + planned.key_bytes() + planned.index_bytes() +
        std::max<std::uint64_t>(argsort_memory(context, planned.rows), heads);
    std::uint64_t widest = 0;
    std::uint64_t kept_keys = 0;
    for (const key_column& key : planned.keys) {
        if (key.is_column()) kept_keys += planned.rows * key.bytes();
    }
    if (!wanted.index_only) {
        for (std::size_t c = 0; c < planned.first().datasets().size(); ++c) {
            widest = std::max(widest, planned.column_bytes(c));
        }
    }
    return std::max(sorting, kept_keys + planned.index_bytes() + widest);
}

// Of the device: what is copied there, and what the sort takes besides. Workspaces are small.
std::uint64_t device_needed(const plan& planned, const context& work) {
    const auto rows = static_cast<std::size_t>(planned.rows);
    const std::size_t key_bytes = planned.keys.front().bytes();
    std::uint64_t bytes = planned.key_bytes();
    switch (planned.how) {
        case strategy::keys:
            bytes += sort_memory(work, rows, key_bytes);
            break;
        case strategy::pairs: {
            const std::size_t payload = planned.keys.front().payload();
            const std::size_t value_bytes =
                planned.first().datasets()[payload].row_bytes(io::form::stored);
            bytes += rows * value_bytes + sort_pairs_memory(work, rows, key_bytes, value_bytes);
            break;
        }
        case strategy::index:
            bytes += planned.index_bytes() + argsort_memory(work, rows);
            break;
    }
    constexpr std::uint64_t workspace_share = 16;
    return bytes + bytes / workspace_share;
}

std::uint64_t memory_needed(const plan& planned, const request& wanted, const context& context,
                            const lookback::context& work) {
    const auto rows = static_cast<std::size_t>(planned.rows);
    const std::size_t key_bytes = planned.keys.front().bytes();
    const std::uint64_t heads = wanted.unique ? planned.rows : 0;
    std::uint64_t bytes = process_bytes + transfer_bytes(planned, wanted, context.threads());
    switch (planned.how) {
        case strategy::keys: {
            if (planned.streamed && work.active_backend() == backend::cuda) {
                return bytes + sort_stream_host_memory(work, key_bytes, planned.block());
            }
            // Values that do not suit a stream are sorted as an array.
            const std::uint64_t stream =
                planned.streamed ? sort_stream_memory(context, rows, key_bytes, planned.block())
                                 : 0;
            const std::uint64_t array =
                planned.table_bytes() +
                std::max<std::uint64_t>(sort_memory(context, rows, key_bytes), heads);
            return bytes + std::max(stream, array);
        }
        case strategy::pairs: {
            const std::size_t payload = planned.keys.front().payload();
            const std::uint64_t payload_bytes = planned.column_bytes(payload);
            const std::size_t value_bytes =
                planned.first().datasets()[payload].row_bytes(io::form::stored);
            bytes += planned.key_bytes() + payload_bytes;
            return bytes + std::max<std::uint64_t>(
                               sort_pairs_memory(context, rows, key_bytes, value_bytes), heads);
        }
        case strategy::index:
            return bytes + index_memory(planned, wanted, context);
    }
    return bytes;
}

// Rows are read once and held while their keys are sorted, unless reading them twice keeps the peak
// near twice the table.
bool should_hold_rows(plan planned, const request& wanted, const context& context) {
    const bool key_in_rows =
        std::any_of(planned.keys.begin(), planned.keys.end(),
                    [](const key_column& key) { return key.field.has_value(); });
    if (!key_in_rows || planned.first().datasets().size() != 1 || wanted.index_only) return false;
    planned.hold_rows = true;
    const std::uint64_t held = index_memory(planned, wanted, context);
    return held <= 2 * planned.table_bytes();
}

void set_output_paths(plan& planned, const request& wanted) {
    const io::table& table = planned.first();
    planned.output_path = output_path_of(wanted.inputs.front(), table, wanted.output.target);
    if (wanted.index.empty()) return;
    const std::string& path = planned.output_path;
    planned.index_path = path_beside(wanted.index, path);
    std::vector<std::string> written{path};
    if (table.kind() == io::table_kind::group) {
        for (const auto& name : table.column_names()) written.push_back(io::join_path(path, name));
    }
    if (!wanted.index_only &&
        std::find(written.begin(), written.end(), planned.index_path) != written.end()) {
        refuse(fmt::format("option '--index': {} is the output itself; give another name",
                           planned.index_path));
    }
}

}  // namespace

std::uint64_t plan::key_bytes() const {
    return std::accumulate(
        keys.begin(), keys.end(), std::uint64_t{0},
        [&](std::uint64_t sum, const key_column& key) { return sum + rows * key.bytes(); });
}

std::size_t plan::block() const {
    const auto& chunk = keys.front().parts.front().chunk();
    return chunk.empty() ? 1 : static_cast<std::size_t>(chunk[0]);
}

std::uint64_t plan::column_bytes(std::size_t c) const {
    return rows * first().datasets()[c].row_bytes(io::form::stored);
}

std::uint64_t plan::table_bytes() const {
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c < first().datasets().size(); ++c) sum += column_bytes(c);
    return sum;
}

plan make_plan(const request& wanted, const context& host, const context& work) {
    plan planned;
    for (const address& named : wanted.inputs) {
        planned.inputs.push_back(open_table(named, wanted.columns));
        planned.rows += planned.inputs.back().rows();
        require_alike(planned.first(), planned.inputs.back());
    }
    planned.keys = find_keys(wanted, planned.inputs);
    planned.segments = open_segments(wanted, planned.first());
    planned.how = choose_strategy(planned, wanted);
    planned.streamed = can_stream(planned, wanted);
    planned.hold_rows = planned.how == strategy::index && should_hold_rows(planned, wanted, host);
    set_output_paths(planned, wanted);
    planned.memory_bytes = memory_needed(planned, wanted, host, work);
    if (work.active_backend() == backend::cuda) planned.device_bytes = device_needed(planned, work);
    return planned;
}

std::string device_obstacle(const plan& planned, const context& work) {
    const std::uint64_t free = work.free_memory();
    if (planned.device_bytes <= free) return {};
    return fmt::format("{}: sorting needs {} of GPU memory, and {} are free",
                       address_of(planned.first()), size_text(planned.device_bytes),
                       size_text(free));
}

void require_memory(const plan& planned, const request& wanted) {
    apps::require_memory(wanted.common, planned.memory_bytes,
                         address_of(planned.first()) + ": sorting", "sort fewer --columns");
}

std::string order_text(const plan& planned) {
    std::vector<std::string> parts;
    parts.reserve(planned.keys.size());
    for (const key_column& key : planned.keys) {
        parts.push_back(key.name + (key.order.descending ? " descending" : "") +
                        (key.order.nan_first ? " NaN first" : ""));
    }
    return fmt::format("{}", fmt::join(parts, ", then "));
}

std::string_view name_of(strategy how) {
    switch (how) {
        case strategy::keys:
            return "keys";
        case strategy::pairs:
            return "pairs";
        case strategy::index:
            return "index";
    }
    return "";
}

std::string plan_text(const plan& planned, const request& wanted, const context& context) {
    std::string text;
    for (const io::table& table : planned.inputs) {
        text += fmt::format("read    {}  {} rows\n", address_of(table), table.rows());
        for (const io::dataset& column : table.datasets()) {
            text += fmt::format("          {}  {}\n", column.path(), column.description());
        }
    }
    const char* verb = wanted.check != check_mode::off ? "check  "
                       : wanted.merge                  ? "merge  "
                                                       : "sort   ";
    text += fmt::format("{} by {}", verb, order_text(planned));
    if (planned.segments) text += fmt::format(" inside segments {}", planned.segments->address());
    if (wanted.unique) text += ", first row of each equal key";
    if (wanted.head) text += fmt::format(", first {} rows", *wanted.head);
    text += fmt::format("\nwith    {}, {} threads, strategy {}\n",
                        context.active_backend() == backend::cuda ? "cuda" : "cpu",
                        context.threads(), name_of(planned.how));
    if (wanted.check != check_mode::off) return text;
    if (!wanted.index_only) {
        text += fmt::format("write   {}:{}{}\n", wanted.output.target.file, planned.output_path,
                            wanted.output.mode.truncate    ? "  (replaces the file)"
                            : wanted.output.mode.overwrite ? "  (replaces the object)"
                                                           : "");
    }
    if (!planned.index_path.empty()) {
        text += fmt::format("write   {}:{}  i64, the permutation\n", wanted.output.target.file,
                            planned.index_path);
    }
    text += fmt::format("memory  at most {}\n", size_text(planned.memory_bytes));
    return text;
}

}  // namespace lookback::apps::h5sort
