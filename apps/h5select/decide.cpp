#include "h5select/decide.hpp"

#include "common/half.hpp"
#include "common/input.hpp"
#include "common/parallel.hpp"
#include "common/program_run.hpp"
#include "common/visit_type.hpp"
#include "io/stream.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

namespace lookback::apps::h5select {
namespace {

/// The rows of one stream, any number at a time.
class stream_cursor {
public:
    stream_cursor(const stream& source, const io::transfer_options& transfer)
        : source_(source),
          reader_(source.dataset, source.form, 0, source.dataset.rows(), transfer) {}
    stream_cursor(const stream_cursor&) = delete;
    stream_cursor& operator=(const stream_cursor&) = delete;
    ~stream_cursor() { give_back(); }

    /// Rows that lie at data(); reads on where there are none.
    std::uint64_t available() {
        if (used_ == batch_.rows) {
            give_back();
            batch_ = reader_.next().value_or(io::row_reader::batch{0, 0, nullptr});
            used_ = 0;
        }
        return batch_.rows - used_;
    }
    const std::byte* data() const { return batch_.data + used_ * source_.row_bytes(); }
    void advance(std::uint64_t rows) { used_ += rows; }

private:
    // What variable-length values of the batch point to.
    void give_back() {
        if (batch_.rows == 0 || !source_.dataset.type().has_pointers) return;
        io::reclaim(source_.dataset.type(), const_cast<std::byte*>(batch_.data),
                    batch_.rows * source_.dataset.row_items());
    }

    const stream& source_;
    io::row_reader reader_;
    io::row_reader::batch batch_{0, 0, nullptr};
    std::uint64_t used_ = 0;
};

/// Of rows that pass and follow each other, keeps those that differ from the one before.
class unique_filter {
public:
    explicit unique_filter(const plan& planned) : plan_(planned), last_(planned.unique.size()) {}

    /// data[s] is the first of the rows in stream s.
    void keep_first(const std::vector<const std::byte*>& data, std::uint64_t rows,
                    std::vector<std::uint64_t>& words) {
        std::optional<std::uint64_t> previous;
        for (std::uint64_t w = 0; w * 64 < rows; ++w) {
            for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
                const auto bit = static_cast<unsigned>(std::countr_zero(left));
                const std::uint64_t row = w * 64 + bit;
                if (equals_previous(data, row, previous)) words[w] &= ~(std::uint64_t{1} << bit);
                previous = row;
            }
        }
        if (!previous) return;
        for (std::size_t c = 0; c < plan_.unique.size(); ++c) {
            const std::byte* const value = at(data, c, *previous);
            if (is_pointer(c)) {
                last_[c].text = text_of(value);
            } else {
                last_[c].bytes.assign(value, value + plan_.unique[c].bytes);
            }
        }
        any_ = true;
    }

private:
    /// A value of the last row that passed in an earlier batch.
    struct held_value {
        std::vector<std::byte> bytes;
        std::string text;
    };

    bool is_pointer(std::size_t c) const {
        return plan_.unique[c].type.kind == io::element_kind::variable_string;
    }
    const std::byte* at(const std::vector<const std::byte*>& data, std::size_t c,
                        std::uint64_t row) const {
        const stream_column& column = plan_.unique[c];
        return data[column.stream] + row * plan_.streams[column.stream].row_bytes() + column.offset;
    }
    static std::string_view text_of(const std::byte* value) {
        const char* text = nullptr;
        std::memcpy(&text, value, sizeof(text));
        return text == nullptr ? std::string_view() : std::string_view(text);
    }

    bool equals_previous(const std::vector<const std::byte*>& data, std::uint64_t row,
                         const std::optional<std::uint64_t>& previous) const {
        if (!previous && !any_) return false;
        for (std::size_t c = 0; c < plan_.unique.size(); ++c) {
            const std::byte* const value = at(data, c, row);
            bool same = false;
            if (is_pointer(c)) {
                same = text_of(value) == (previous ? text_of(at(data, c, *previous))
                                                   : std::string_view(last_[c].text));
            } else {
                same = same_value(plan_.unique[c], value,
                                  previous ? at(data, c, *previous) : last_[c].bytes.data());
            }
            if (!same) return false;
        }
        return true;
    }

    // Equal bits, or numbers that are equal as keys.
    static bool same_value(const stream_column& column, const std::byte* a, const std::byte* b) {
        if (std::memcmp(a, b, column.bytes) == 0) return true;
        if (column.type.kind != io::element_kind::floating || !column.type.key ||
            column.bytes != size_of(*column.type.key)) {
            return false;
        }
        const double x = number_at(column, a);
        const double y = number_at(column, b);
        return x == y || (std::isnan(x) && std::isnan(y));
    }
    static double number_at(const stream_column& column, const std::byte* from) {
        std::byte bytes[8];
        std::memcpy(bytes, from, column.bytes);
        if (column.swapped) std::reverse(bytes, bytes + column.bytes);
        return visit_type(*column.type.key, [&]<class T>() {
            T value;
            std::memcpy(&value, bytes, sizeof(T));
            if constexpr (is_one_of<T, float16>) {
                return static_cast<double>(widen(value));
            } else {
                return static_cast<double>(value);
            }
        });
    }

    const plan& plan_;
    std::vector<held_value> last_;
    bool any_ = false;
};

class decision {
public:
    decision(const plan& planned, const request& wanted, const io::transfer_options& transfer)
        : plan_(planned), wanted_(wanted), threads_(transfer.threads), unique_(planned) {
        for (const stream& each : planned.streams) {
            cursors_.push_back(std::make_unique<stream_cursor>(each, transfer));
        }
        if (!planned.condition) return;
        for (int t = 0; t < std::max(1, threads_); ++t) runs_.emplace_back(*planned.condition);
    }

    void run(row_bits& kept) {
        // Without a stream the rows are numbers alone.
        constexpr std::uint64_t most_rows = std::uint64_t{1} << 20;
        std::vector<const std::byte*> data(cursors_.size());
        for (std::uint64_t row = 0; row < plan_.rows();) {
            std::uint64_t rows = std::min(most_rows, plan_.rows() - row);
            for (std::size_t s = 0; s < cursors_.size(); ++s) {
                rows = std::min(rows, cursors_[s]->available());
                data[s] = cursors_[s]->data();
            }
            words_.assign((rows + 63) / 64, 0);
            mark(data, row, rows);
            if (!plan_.unique.empty()) unique_.keep_first(data, rows, words_);
            kept.append(words_.data(), rows);
            for (const auto& cursor : cursors_) cursor->advance(rows);
            row += rows;
        }
    }

private:
    void mark(const std::vector<const std::byte*>& data, std::uint64_t row, std::uint64_t rows) {
        if (plan_.condition) {
            run_condition(data, row, rows);
        } else if (plan_.slice) {
            mark_slice(row, rows);
        } else {
            std::fill(words_.begin(), words_.end(), ~std::uint64_t{0});
        }
        if (wanted_.invert) {
            for (std::uint64_t& word : words_) word = ~word;
        }
        if (rows % 64 != 0) words_.back() &= (std::uint64_t{1} << rows % 64) - 1;
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

    void run_condition(const std::vector<const std::byte*>& data, std::uint64_t row,
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
                          std::vector<input_rows> inputs;
                          inputs.reserve(plan_.columns.size());
                          for (const stream_column& column : plan_.columns) {
                              inputs.push_back(rows_of(column, data, from));
                          }
                          auto fault = own.mark(inputs, row + from, count, &words_[begin]);
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

    input_rows rows_of(const stream_column& column, const std::vector<const std::byte*>& data,
                       std::uint64_t from) const {
        const std::size_t stride = plan_.streams[column.stream].row_bytes();
        input_rows in;
        in.data = data[column.stream] + from * stride + column.offset;
        in.stride = stride;
        in.swapped = column.swapped;
        in.text_bytes = column.bytes;
        in.pointers = column.type.kind == io::element_kind::variable_string;
        in.zero_ended = column.type.zero_ended;
        in.space_padded = column.type.space_padded;
        return in;
    }

    const plan& plan_;
    const request& wanted_;
    int threads_;
    unique_filter unique_;
    std::vector<std::unique_ptr<stream_cursor>> cursors_;
    std::vector<program_run> runs_;
    std::vector<std::uint64_t> words_;
};

}  // namespace

void decide(const plan& planned, const request& wanted, const io::transfer_options& transfer,
            row_bits& kept) {
    decision(planned, wanted, transfer).run(kept);
}

}  // namespace lookback::apps::h5select
