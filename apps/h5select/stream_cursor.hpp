// h5select: the rows of a stream, any number at a time.
// Invariant: what available() told of stays at data() until advance(); variable-length values are
// given back.
#pragma once

#include "h5select/plan.hpp"
#include "io/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace lookback::apps::h5select {

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
        }
        return batch_.rows - used_;
    }
    const std::byte* data() const { return batch_.data + used_ * source_.row_bytes(); }
    void advance(std::uint64_t rows) { used_ += rows; }

private:
    // What variable-length values of the batch point to; once, also where the next read fails.
    void give_back() {
        const io::row_reader::batch old = std::exchange(batch_, {0, 0, nullptr});
        used_ = 0;
        if (old.rows == 0 || !source_.dataset.type().has_pointers) return;
        io::reclaim(source_.dataset.type(), const_cast<std::byte*>(old.data),
                    old.rows * source_.dataset.row_items());
    }

    const stream& source_;
    io::row_reader reader_;
    io::row_reader::batch batch_{0, 0, nullptr};
    std::uint64_t used_ = 0;
};

}  // namespace lookback::apps::h5select
