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

// Throws where a GPU cannot do what is wanted.
void require_suited(const plan& planned) {
    if (!planned.condition) {
        throw error(error_kind::backend_error,
                    "cuda: no condition is evaluated: a GPU is for --where and --mask; give "
                    "--backend cpu");
    }
    if (const auto obstacle = why_not_steps(*planned.condition)) {
        refuse_expression(
            obstacle->column,
            fmt::format("a GPU cannot evaluate it: {}; give --backend cpu", obstacle->why));
    }
}

}  // namespace

row_condition condition_of(const program_steps& steps) {
    return {steps.steps, steps.constants, steps.columns, steps.result, steps.value_slots};
}

std::optional<context> open_device(plan& planned, const request& wanted, std::string& why) {
    const common_options& common = wanted.common;
    if (common.backend == backend::cpu) return std::nullopt;
    if (common.backend == backend::automatic) {
        why = "reading the rows takes longer than the condition; --backend cuda asks for a GPU";
        return std::nullopt;
    }
    require_suited(planned);
    context chosen({.backend = common.backend, .threads = common.threads});
    program_steps steps = to_steps(*planned.condition);
    const std::size_t batch = rows_of_batch(steps);
    const std::size_t rows =
        std::min<std::uint64_t>(batch, std::max<std::uint64_t>(planned.rows(), 1));
    const std::size_t needed = mark_rows_memory(condition_of(steps), rows);
    if (const std::size_t free = chosen.free_memory(); needed > free) {
        throw error(error_kind::out_of_memory,
                    fmt::format("{}: selecting needs {} of GPU memory, and {} are free; give "
                                "--backend cpu",
                                address_of(planned.input), size_text(needed), size_text(free)));
    }
    planned.memory_bytes += mark_rows_host_memory(condition_of(steps), rows);
    planned.device_rows = rows;
    planned.steps = std::move(steps);
    return chosen;
}

}  // namespace lookback::apps::h5select
