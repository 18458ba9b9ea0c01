#include "h5select/decide.hpp"

#include "common/input.hpp"
#include "common/parallel.hpp"
#include "common/program_run.hpp"
#include "h5select/stream_cursor.hpp"
#include "h5select/unique_filter.hpp"

#include <lookback/error.hpp>
#include <lookback/row_stream.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace lookback::apps::h5select {
namespace {

class decision {
public:
    decision(const plan& planned, const request& wanted, const io::transfer_options& transfer,
             row_bits& kept, held_rows& held)
        : plan_(planned),
          wanted_(wanted),
          kept_(kept),
          held_(held),
          threads_(std::max(1, transfer.threads)),
          unique_(planned),
          data_(planned.streams.size()) {
        for (const stream& each : planned.streams) {
            cursors_.push_back(std::make_unique<stream_cursor>(each, transfer));
        }
        if (!planned.condition) return;
        for (int t = 0; t < threads_; ++t) runs_.emplace_back(*planned.condition);
    }

    void run_on_host() {
        // Without a stream the rows are numbers alone.
        constexpr std::uint64_t most_rows = std::uint64_t{1} << 20;
        for (std::uint64_t row = 0; row < plan_.rows();) {
            const std::uint64_t rows = look(std::min(most_rows, plan_.rows() - row));
            words_.assign((rows + 63) / 64, 0);
            mark(row, rows);
            keep(rows);
            held_.take(data_, rows, words_);
            advance(rows);
            row += rows;
        }
    }

    /// The condition's columns alone go to the device; what it cannot explain, the host does again.
    /// Returns how it was evaluated; automatic where there were no rows.
    row_strategy run_on_device(const context& device) {
        const program_steps& steps = *plan_.steps;
        row_strategy used = row_strategy::automatic;
        row_stream stream;
        stream.condition = condition_of(steps);
        stream.rows = plan_.rows();
        stream.batch_rows = plan_.device_rows;
        // Which of equal neighbours comes first is found in rows that lie there still.
        stream.ahead = plan_.unique.empty();
        stream.read = [&](std::size_t, std::size_t most, std::span<std::byte* const> columns) {
            return fill(most, columns);
        };
        stream.take = [&](const row_batch& batch) {
            words_.assign(batch.words.begin(), batch.words.end());
            used = batch.strategy;
            if (batch.fault) explain_fault(batch);
            keep(batch.rows);
        };
        mark_rows(device, stream);
        return used;
    }

private:
    /// Rows that lie at data_ in every stream, at most so many.
    std::uint64_t look(std::uint64_t most) {
        for (std::size_t s = 0; s < cursors_.size(); ++s) {
            most = std::min(most, cursors_[s]->available());
            data_[s] = cursors_[s]->data();
        }
        return most;
    }
    void advance(std::uint64_t rows) {
        for (const auto& cursor : cursors_) cursor->advance(rows);
    }

    std::size_t fill(std::size_t most, std::span<std::byte* const> columns) {
        std::size_t filled = 0;
        do {
            advance(std::exchange(looked_, 0));
            looked_ = look(most - filled);
            pack(looked_, filled, columns);
            filled += looked_;
        } while (filled < most && plan_.unique.empty());
        return filled;
    }
    void pack(std::uint64_t rows, std::uint64_t before, std::span<std::byte* const> columns) const {
        constexpr std::uint64_t part_rows = std::uint64_t{1} << 16;  // of a thread at least
        for_each_part(rows, threads_, part_rows, [&](std::uint64_t begin, std::uint64_t end) {
            for (std::size_t c = 0; c < columns.size(); ++c) {
                input_rows in = rows_of(plan_.columns[c]);
                in.data += begin * in.stride;
                const auto bytes = static_cast<std::size_t>(bytes_of(plan_.steps->columns[c]));
                pack_rows(in, bytes, end - begin, columns[c] + (before + begin) * bytes);
            }
        });
    }

    void explain_fault(const row_batch& batch) {
        std::vector<input_rows> inputs(batch.columns.size());
        for (std::size_t c = 0; c < inputs.size(); ++c) {
            inputs[c].data = batch.columns[c];
            inputs[c].stride = static_cast<std::size_t>(bytes_of(plan_.steps->columns[c]));
        }
        run_condition(inputs, batch.first, batch.rows);
        throw error(error_kind::backend_error,
                    "cuda: a fault was found in the expression that the CPU does not find");
    }

    void keep(std::uint64_t rows) {
        if (wanted_.invert) {
            for (std::uint64_t& word : words_) word = ~word;
        }
        if (rows % 64 != 0) words_.back() &= (std::uint64_t{1} << rows % 64) - 1;
        if (!plan_.unique.empty()) unique_.keep_first(data_, rows, words_);
        kept_.append(words_.data(), rows);
    }

    void mark(std::uint64_t row, std::uint64_t rows) {
        if (plan_.condition) {
            std::vector<input_rows> inputs;
            inputs.reserve(plan_.columns.size());
            for (const stream_column& column : plan_.columns) inputs.push_back(rows_of(column));
            run_condition(inputs, row, rows);
        } else if (plan_.slice) {
            mark_slice(row, rows);
        } else {
            std::fill(words_.begin(), words_.end(), ~std::uint64_t{0});
        }
    }

    void mark_slice(std::uint64_t row, std::uint64_t rows) {
        const auto begin = static_cast<std::uint64_t>(*plan_.slice->begin);
        const auto end = static_cast<std::uint64_t>(*plan_.slice->end);
        const auto step = static_cast<std::uint64_t>(plan_.slice->step);
        std::uint64_t at = begin;
        if (at < row) at += ((row - begin - 1) / step + 1) * step;
        for (; at < std::min(end, row + rows); at += step) {
            words_[(at - row) / 64] |= std::uint64_t{1} << (at - row) % 64;
            if (step > end - at) break;
        }
    }

    /// `inputs` begin at `row`. Throws for the first row with a fault.
    void run_condition(const std::vector<input_rows>& inputs, std::uint64_t row,
                       std::uint64_t rows) {
        constexpr std::uint64_t part_words = 256;  // of a thread at least: 16 Ki rows
        std::mutex mutex;
        std::optional<program_fault> first;
        std::atomic<std::size_t> next{0};
        for_each_part(words_.size(), static_cast<int>(runs_.size()), part_words,
                      [&](std::uint64_t begin, std::uint64_t end) {
                          program_run& own = runs_[next.fetch_add(1)];
                          const std::uint64_t from = begin * 64;
                          const std::uint64_t count = std::min(end * 64, rows) - from;
                          std::vector<input_rows> part = inputs;
                          for (input_rows& in : part) in.data += from * in.stride;
                          auto fault = own.mark(part, row + from, count, &words_[begin]);
                          if (!fault) return;
                          const std::scoped_lock lock(mutex);
                          if (!first || fault->row < first->row) first = std::move(fault);
                      });
        if (!first) return;
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: row {}: {} (the expression, at column {}); guard it, as in "
                                "b != 0 && a % b == 1",
                                address_of(plan_.input), first->row, first->what, first->column));
    }

    /// From the first row at data_ on.
    input_rows rows_of(const stream_column& column) const {
        input_rows in;
        in.stride = plan_.streams[column.stream].row_bytes();
        in.data = data_[column.stream] + column.offset;
        in.swapped = column.swapped;
        in.text_bytes = column.bytes;
        in.pointers = column.type.kind == io::element_kind::variable_string;
        in.zero_ended = column.type.zero_ended;
        in.space_padded = column.type.space_padded;
        return in;
    }

    const plan& plan_;
    const request& wanted_;
    row_bits& kept_;
    held_rows& held_;
    int threads_;
    unique_filter unique_;
    std::vector<std::unique_ptr<stream_cursor>> cursors_;
    std::vector<const std::byte*> data_;  // of each stream: what look() found
    std::uint64_t looked_ = 0;            // rows there that fill() has not passed yet
    std::vector<program_run> runs_;
    std::vector<std::uint64_t> words_;
};

}  // namespace

row_strategy decide(const plan& planned, const request& wanted, const context* device,
                    const io::transfer_options& transfer, row_bits& kept, held_rows& held) {
    decision all(planned, wanted, transfer, kept, held);
    if (device != nullptr) return all.run_on_device(*device);
    all.run_on_host();
    return row_strategy::automatic;
}

}  // namespace lookback::apps::h5select
