// CUDA backend: batches of rows through pinned memory to the terms or steps of a condition, and
// their marks back. Invariant: two slots take turns; the host fills one while the device reads the
// other, and touches a slot again only when what was asked of the device for it is done.
#include "cuda/compact_column.cuh"
#include "cuda/pinned_block.hpp"

#include <lookback/buffer.hpp>
#include <lookback/error.hpp>
#include <lookback/kernels/core/find_terms.hpp>
#include <lookback/kernels/device/row_machine.cuh>
#include <lookback/kernels/device/row_terms.cuh>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lookback::cuda {
namespace {

// Columns begin where the widest loads may.
constexpr std::size_t alignment = 256;
constexpr std::size_t padding = core::row_program::padding;

constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

/// Where the columns of a batch lie, in pinned and in device memory alike.
struct batch_layout {
    batch_layout(const row_condition& condition, std::size_t rows)
        : words(aligned((rows + 63) / 64 * sizeof(std::uint64_t))) {
        for (const core::stored_type type : condition.columns) {
            offsets.push_back(values);
            values += aligned((rows + padding) * static_cast<std::size_t>(core::bytes_of(type)));
        }
    }
    std::vector<std::size_t> offsets;
    std::size_t values = 0;  ///< bytes of all columns
    std::size_t words;       ///< bytes of the marks; the fault stands behind them
    std::size_t answer() const { return words + alignment; }
};

template <class T>
buffer<T> sent(gpu_device& gpu, memory_resource& memory, std::span<const T> items) {
    buffer<T> there(memory, std::max<std::size_t>(items.size(), 1));
    if (!items.empty()) gpu.copy(there.data(), items.data(), items.size_bytes());
    return there;
}

/// Memory for one batch on both sides, and when the device is done with it.
struct batch_slot {
    batch_slot(gpu_device& gpu, memory_resource& memory, const row_condition& condition,
               const batch_layout& layout)
        : values(memory, std::max<std::size_t>(layout.values, 1)),
          answer(memory, layout.answer()),
          pinned_values(layout.values),
          pinned_answer(layout.answer()) {
        // What stands behind the last row is read: it is to be something.
        cuda_check(cudaMemsetAsync(values.data(), 0, values.size(), gpu.native_stream()),
                   "clear the columns");
        std::vector<core::row_column> placed;
        for (std::size_t c = 0; c < layout.offsets.size(); ++c) {
            placed.push_back({values.data() + layout.offsets[c], condition.columns[c]});
            pinned_columns.push_back(pinned_values.data() + layout.offsets[c]);
        }
        columns = sent<core::row_column>(gpu, memory, placed);
    }

    buffer<std::byte> values;
    buffer<std::byte> answer;  ///< marks and fault
    buffer<core::row_column> columns;
    pinned_block pinned_values;
    pinned_block pinned_answer;
    std::vector<std::byte*> pinned_columns;
    stream_event done;
    std::size_t first = 0;
    std::size_t rows = 0;  ///< 0: nobody waits for it
};

class row_marker {
public:
    row_marker(gpu_device& gpu, memory_resource& memory, const row_stream& stream)
        : gpu_(gpu),
          stream_(stream),
          batch_rows_(std::min(stream.batch_rows, std::max<std::size_t>(stream.rows, 1))),
          layout_(stream.condition, batch_rows_),
          steps_(sent(gpu, memory, stream.condition.steps)),
          constants_(sent(gpu, memory, stream.condition.constants)) {
        if (const auto terms = terms_of(stream)) {
            terms_.emplace(sent<core::row_terms>(gpu, memory, {&*terms, 1}));
        }
        for (auto& slot : slots_) slot.emplace(gpu, memory, stream.condition, layout_);
    }
    row_marker(const row_marker&) = delete;
    row_marker& operator=(const row_marker&) = delete;
    // The device may still copy from and to the slots where a function of the caller's threw.
    ~row_marker() { cudaStreamSynchronize(gpu_.native_stream()); }

    void run() {
        std::size_t turn = 0;
        for (std::size_t first = 0; first < stream_.rows; turn ^= 1) {
            batch_slot& slot = *slots_[turn];
            slot.first = first;
            const std::size_t rows = read(slot);
            submit(slot, rows);
            first += rows;
            if (stream_.ahead) {
                take(*slots_[turn ^ 1]);
            } else {
                take(slot);
            }
        }
        take(*slots_[turn ^ 1]);  // the last one
    }

private:
    static std::optional<core::row_terms> terms_of(const row_stream& stream) {
        const row_condition& of = stream.condition;
        if (stream.strategy == row_strategy::steps) return std::nullopt;
        return core::find_terms(of.steps, of.constants, of.columns, of.result);
    }

    std::size_t read(const batch_slot& slot) const {
        const std::size_t most = std::min(batch_rows_, stream_.rows - slot.first);
        const std::size_t rows = stream_.read(slot.first, most, slot.pinned_columns);
        if (rows == 0 || rows > most) {
            throw error(error_kind::invalid_argument,
                        "mark_rows: read() gave " + std::to_string(rows) + " rows from row " +
                            std::to_string(slot.first) + " on, of 1 to " + std::to_string(most));
        }
        return rows;
    }

    void submit(batch_slot& slot, std::size_t rows) {
        const cudaStream_t stream = gpu_.native_stream();
        for (std::size_t c = 0; c < layout_.offsets.size(); ++c) {
            const auto item =
                static_cast<std::size_t>(core::bytes_of(stream_.condition.columns[c]));
            cuda_check(
                cudaMemcpyAsync(slot.values.data() + layout_.offsets[c], slot.pinned_columns[c],
                                rows * item, cudaMemcpyHostToDevice, stream),
                "copy a column to the device");
        }
        std::byte* const answer = slot.answer.data();
        auto* const fault = reinterpret_cast<std::uint32_t*>(answer + layout_.words);
        cuda_check(cudaMemsetAsync(answer, 0, slot.answer.size(), stream), "clear the marks");
        launch({steps_.data(), static_cast<int>(stream_.condition.steps.size()),
                stream_.condition.result, slot.columns.data(), constants_.data(),
                static_cast<index_t>(slot.first), fault},
               reinterpret_cast<std::uint32_t*>(answer), static_cast<index_t>(rows));
        cuda_check(cudaMemcpyAsync(slot.pinned_answer.data(), answer, slot.answer.size(),
                                   cudaMemcpyDeviceToHost, stream),
                   "copy the marks to the host");
        slot.done.record(stream);
        slot.rows = rows;
    }

    void launch(const core::row_program& program, std::uint32_t* words, index_t rows) {
        const kernels::compact_request<kernels::marks_alone> request{.rows = {words, nullptr},
                                                                     .items = rows};
        const auto marks = [&](const auto& source) {
            cuda_check(kernels::compact_under<tuning::program_policy>(
                           compact_workspace(gpu_, rows), request, source, gpu_.native_stream()),
                       "launch the marking of rows");
        };
        if (terms_) {
            marks(kernels::term_marks{terms_->data(), program.columns});
        } else if (stream_.condition.value_slots <= core::few_value_slots) {
            marks(kernels::program_marks<core::few_value_slots>{program});
        } else {
            marks(kernels::program_marks<core::value_slots>{program});
        }
    }

    void take(batch_slot& slot) {
        if (slot.rows == 0) return;
        slot.done.wait();
        const std::size_t rows = std::exchange(slot.rows, 0);
        auto* const words = reinterpret_cast<std::uint64_t*>(slot.pinned_answer.data());
        const std::size_t count = (rows + 63) / 64;
        if (rows % 64 != 0) words[count - 1] &= (std::uint64_t{1} << rows % 64) - 1;
        std::uint32_t fault = 0;
        std::memcpy(&fault, slot.pinned_answer.data() + layout_.words, sizeof(fault));
        const std::vector<const std::byte*> columns(slot.pinned_columns.begin(),
                                                    slot.pinned_columns.end());
        stream_.take({slot.first,
                      rows,
                      {words, count},
                      fault != 0,
                      columns,
                      terms_ ? row_strategy::terms : row_strategy::steps});
    }

    gpu_device& gpu_;
    const row_stream& stream_;
    std::size_t batch_rows_;
    batch_layout layout_;
    buffer<core::row_step> steps_;
    buffer<core::row_constant> constants_;
    std::optional<buffer<core::row_terms>> terms_;  ///< where the condition comes to them
    std::optional<batch_slot> slots_[2];
};

}  // namespace

void mark_rows(device& device, memory_resource& memory, const row_stream& stream) {
    if (stream.rows == 0) return;
    auto& gpu = static_cast<gpu_device&>(device);
    cuda_check(cudaSetDevice(gpu.ordinal()), "select the device");
    row_marker(gpu, memory, stream).run();
}

mark_rows_bytes mark_rows_memory(const row_condition& condition, std::size_t batch_rows) {
    const batch_layout layout(condition, batch_rows);
    const std::size_t slot = layout.values + layout.answer();
    // Blocks of a pool are whole pages of 2 MiB.
    constexpr std::size_t pages = std::size_t{16} << 20;
    const std::size_t workspace =
        kernels::compact_workspace_bytes(static_cast<index_t>(batch_rows));
    return {2 * slot + 2 * workspace + pages, 2 * slot};
}

}  // namespace lookback::cuda
