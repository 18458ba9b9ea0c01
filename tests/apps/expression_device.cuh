// Tests: an expression over host rows by the kernels, on a GPU or on the emulated device.
#pragma once

#include "common/program_run.hpp"
#include "common/program_steps.hpp"
#include "support/device_array.cuh"

#include <lookback/kernels/core/find_terms.hpp>
#include <lookback/kernels/device/compact.cuh>
#include <lookback/kernels/device/row_machine.cuh>
#include <lookback/kernels/device/row_terms.cuh>

#include <stdexcept>

namespace lookback::test {

/// The flags of the rows as program_run gives them.
struct device_answer {
    bool fault;  ///< in some row: then the flags mean nothing
    bool terms;  ///< the expression comes to range tests: these were run, and its steps
};

/// Throws where range tests and steps disagree.
inline device_answer mark_on_device(const apps::program& code,
                                    std::span<const apps::input_rows> inputs, std::size_t rows,
                                    std::vector<std::uint64_t>& words) {
    const apps::program_steps steps = apps::to_steps(code);
    constexpr std::size_t padding = core::row_program::padding;
    std::vector<std::unique_ptr<device_array<std::byte>>> data;
    std::vector<core::row_column> columns;
    for (std::size_t c = 0; c < inputs.size(); ++c) {
        const std::size_t bytes = core::bytes_of(steps.columns[c]);
        std::vector<std::byte> packed((rows + padding) * bytes, std::byte{0x5a});
        apps::pack_rows(inputs[c], bytes, rows, packed.data());
        data.push_back(std::make_unique<device_array<std::byte>>(packed));
        columns.push_back({data.back()->data(), steps.columns[c]});
    }
    const device_array<core::row_step> step_array(steps.steps);
    const device_array<core::row_column> column_array(columns);
    const device_array<core::row_constant> constant_array(steps.constants);
    device_array<std::uint32_t> fault(1);
    fault.fill_bytes(0);
    const core::row_program on_device{step_array.data(),     static_cast<int>(steps.steps.size()),
                                      steps.result,          column_array.data(),
                                      constant_array.data(), 0,
                                      fault.data()};
    device_array<std::uint32_t> marks(2 * words.size());
    marks.fill_bytes(0);
    const auto items = static_cast<core::index_t>(rows);
    device_array<unsigned char> workspace(device::compact_workspace_bytes(items));
    workspace.fill_bytes(0);
    using request = device::compact_request<device::marks_alone>;
    const request all{.rows = {marks.data(), nullptr}, .items = items};
    const auto run = [&](const auto& source) {
        using policy = tuning::program_policy;
        require(device::compact_under<policy>({workspace.data(), workspace.size(), nullptr}, all,
                                              source, nullptr),
                "marks");
    };
    if (steps.value_slots <= core::few_value_slots) {
        run(device::program_marks<core::few_value_slots>{on_device});
    } else {
        run(device::program_marks<core::value_slots>{on_device});
    }
    const std::vector<std::uint32_t> found = marks.host();
    std::memcpy(words.data(), found.data(), words.size() * sizeof(std::uint64_t));
    const auto terms = core::find_terms(steps.steps, steps.constants, steps.columns, steps.result);
    if (terms) {
        const device_array<core::row_terms> plan(std::vector<core::row_terms>{*terms});
        marks.fill_bytes(0);
        workspace.fill_bytes(0);
        run(device::term_marks{plan.data(), column_array.data()});
        if (marks.host() != found) throw std::runtime_error("range tests and steps disagree");
    }
    return {fault.host().front() != 0, terms.has_value()};
}

}  // namespace lookback::test
