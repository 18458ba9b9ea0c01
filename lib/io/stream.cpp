#include "io/stream.hpp"

#include "io/raw_access.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace lookback::io {

std::uint64_t batch_rows(const dataset& dataset, form form) {
    return rows_at_once(dataset, dataset.row_bytes(form));
}

row_reader::row_reader(dataset source, io::form form, std::uint64_t first, std::uint64_t rows,
                       transfer_options options)
    : source_(std::move(source)),
      form_(form),
      options_(std::move(options)),
      next_row_(first),
      end_(first + rows),
      batch_rows_(batch_rows(source_, form)) {
    if (first > source_.rows() || rows > source_.rows() - first) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: rows {} to {} of {} were asked for", source_.address(), first,
                                end_, source_.rows()));
    }
    read_ahead();
}

row_reader::~row_reader() {
    if (pending_.valid()) pending_.wait();
}

void row_reader::read_ahead() {
    if (next_row_ == end_) return;
    // To the next whole chunk, so that none is decoded twice.
    const std::uint64_t rows = std::min(batch_rows_ - next_row_ % batch_rows_, end_ - next_row_);
    auto& buffer = buffers_[current_ ^ 1];
    if (!buffer) {
        buffer =
            std::make_unique_for_overwrite<std::byte[]>(batch_rows_ * source_.row_bytes(form_));
    }
    pending_batch_ = {next_row_, rows, buffer.get()};
    next_row_ += rows;
    pending_ = std::async(std::launch::async, [this, to = buffer.get(), batch = pending_batch_] {
        read_rows(source_, batch.first_row, batch.rows, form_, to, options_);
    });
}

std::optional<row_reader::batch> row_reader::next() {
    if (!pending_.valid()) return std::nullopt;
    pending_.get();
    const batch result = pending_batch_;
    current_ ^= 1;
    read_ahead();
    return result;
}

row_writer::row_writer(dataset target, io::form form, transfer_options options)
    : target_(std::move(target)),
      form_(form),
      options_(std::move(options)),
      row_bytes_(target_.row_bytes(form)),
      batch_rows_(batch_rows(target_, form)) {}

row_writer::~row_writer() {
    if (pending_.valid()) pending_.wait();
}

void row_writer::append(const void* memory, std::uint64_t rows) {
    if (rows > target_.rows() - first_row_ - filled_rows_) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: more rows were written than its {}", target_.address(),
                                target_.rows()));
    }
    const auto* from = static_cast<const std::byte*>(memory);
    while (rows > 0) {
        auto& buffer = buffers_[current_];
        if (!buffer) buffer = std::make_unique_for_overwrite<std::byte[]>(batch_rows_ * row_bytes_);
        const std::uint64_t taken = std::min(rows, batch_rows_ - filled_rows_);
        std::memcpy(buffer.get() + filled_rows_ * row_bytes_, from, taken * row_bytes_);
        filled_rows_ += taken;
        from += taken * row_bytes_;
        rows -= taken;
        if (filled_rows_ == batch_rows_) write_behind();
    }
}

void row_writer::write_behind() {
    if (pending_.valid()) pending_.get();
    pending_ = std::async(std::launch::async, [this, first = first_row_, rows = filled_rows_,
                                               from = buffers_[current_].get()] {
        write_rows(target_, first, rows, form_, from, options_);
    });
    first_row_ += filled_rows_;
    filled_rows_ = 0;
    current_ ^= 1;
}

void row_writer::finish() {
    if (filled_rows_ > 0) write_behind();
    if (pending_.valid()) pending_.get();
    if (first_row_ != target_.rows()) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: {} of its {} rows were written", target_.address(), first_row_,
                                target_.rows()));
    }
}

}  // namespace lookback::io
