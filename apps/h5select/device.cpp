#include "h5select/device.hpp"

#include "common/input.hpp"
#include "common/size.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps::h5select {
namespace {

/// Rows of a batch: long enough for the bus, short enough that little memory is pinned.
/// LOOKBACK_BATCH_ROWS lets tests reach many batches with few rows.
std::size_t rows_of_batch(const program_steps& steps) {
    const char* const text = std::getenv("LOOKBACK_BATCH_ROWS");
    if (const std::uint64_t rows = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
        rows != 0) {
        return rows;
    }
    constexpr std::size_t batch_bytes = std::size_t{16} << 20;
    std::size_t row_bytes = 1;
    for (const core::stored_type type : steps.columns) {
        row_bytes += static_cast<std::size_t>(bytes_of(type));
    }
    const std::size_t rows = batch_bytes / row_bytes / 16384 * 16384;  // whole tiles
    return std::clamp(rows, std::size_t{1} << 14, std::size_t{1} << 20);
}

/// Why the CPU has to evaluate it, or nothing. Throws where --backend cuda forbids that.
std::string unsuited(const plan& planned, bool by_name) {
    if (!planned.condition) {
        constexpr const char* why = "no condition is evaluated";
        if (by_name) {
            throw error(
                error_kind::backend_error,
                fmt::format("cuda: {}: a GPU is for --where and --mask; give --backend cpu", why));
        }
        return why;
    }
    const auto obstacle = why_not_steps(*planned.condition);
    if (!obstacle) return {};
    if (by_name) {
        refuse_expression(
            obstacle->column,
            fmt::format("a GPU cannot evaluate it: {}; give --backend cpu", obstacle->why));
    }
    return fmt::format("a GPU cannot evaluate the expression: at column {}, {}", obstacle->column,
                       obstacle->why);
}

}  // namespace

row_condition condition_of(const program_steps& steps) {
    return {steps.steps, steps.constants, steps.columns, steps.result, steps.value_slots};
}

std::optional<context> open_device(plan& planned, const request& wanted, std::string& why) {
    const common_options& common = wanted.common;
    if (common.backend == backend::cpu) return std::nullopt;
    const bool by_name = common.backend == backend::cuda;
    why = unsuited(planned, by_name);
    if (!why.empty()) return std::nullopt;
    context chosen({.backend = common.backend, .threads = common.threads});
    if (chosen.active_backend() == backend::cpu) {
        why = chosen.reason();
        return std::nullopt;
    }
    program_steps steps = to_steps(*planned.condition);
    const std::size_t batch = rows_of_batch(steps);
    const std::size_t rows =
        std::min<std::uint64_t>(batch, std::max<std::uint64_t>(planned.rows(), 1));
    const std::size_t needed = mark_rows_memory(condition_of(steps), rows);
    if (const std::size_t free = chosen.free_memory(); needed > free) {
        why = fmt::format("{}: selecting needs {} of GPU memory, and {} are free",
                          address_of(planned.input), size_text(needed), size_text(free));
        if (by_name) throw error(error_kind::out_of_memory, why + "; give --backend cpu");
        return std::nullopt;
    }
    const std::uint64_t bytes =
        planned.memory_bytes + mark_rows_host_memory(condition_of(steps), rows);
    if (!by_name && common.memory != 0 && bytes > common.memory) {
        why = fmt::format("with a GPU it would take {}, and --memory allows {}", size_text(bytes),
                          size_text(common.memory));
        return std::nullopt;
    }
    planned.device_rows = rows;
    planned.memory_bytes = bytes;
    planned.steps = std::move(steps);
    return chosen;
}

}  // namespace lookback::apps::h5select
