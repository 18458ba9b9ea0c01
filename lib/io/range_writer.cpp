#include "io/range_writer.hpp"

#include "io/ordered_queue.hpp"
#include "io/workers.hpp"
#include "io/write_steps.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lookback::io {

class range_writer::route {
public:
    route(const dataset& target, form form, const transfer_options& options)
        : target_(target),
          access_(plan_access(target, form)),
          options_(options),
          job_{target_, access_, 0, target_.rows(), nullptr, nullptr, options_} {}
    route(const route&) = delete;
    route& operator=(const route&) = delete;
    virtual ~route() = default;

    virtual void write(std::uint64_t first, std::uint64_t rows, const std::byte* memory) = 0;
    /// Lets threads that wait inside write() go.
    virtual void release_waiting() {}

    std::uint64_t rows() const { return job_.rows; }
    std::string address() const { return target_.address(); }
    std::atomic<std::uint64_t> taken{0};
    failure_flag failure;

protected:
    const dataset target_;
    const raw_access access_;
    const transfer_options options_;
    const write_job job_;
};

class range_writer::contiguous_route : public range_writer::route {
public:
    using route::route;

    void write(std::uint64_t first, std::uint64_t rows, const std::byte* memory) override {
        const std::uint64_t bytes = rows * access_.row_bytes;
        scratch swapped;
        const std::byte* const from = in_file_order(job_, memory, bytes, swapped);
        // Two writers to one file would fight for its lock.
        const std::scoped_lock lock(mutex_);
        stage_timer timer(options_.counters, stage::write);
        pwrite_all(job_, from, bytes, access_.file_offset + first * access_.row_bytes);
        timer.add_bytes(bytes);
        job_.written(bytes);
    }

private:
    std::mutex mutex_;
};

class range_writer::chunk_route : public range_writer::route {
public:
    chunk_route(const dataset& target, form form, const transfer_options& options)
        : route(target, form, options),
          grid_(target.shape(), target.chunk(), access_.item_bytes),
          fill_value_(fill_item(target, access_)),
          queue_(window_of(options)) {}

    void write(std::uint64_t first, std::uint64_t rows, const std::byte* memory) override {
        const std::uint64_t end = first + rows;
        while (first != end) {
            const std::uint64_t band = first / grid_.band_rows();
            const std::uint64_t band_end = std::min(job_.rows, (band + 1) * grid_.band_rows());
            const std::uint64_t count = std::min(end, band_end) - first;
            if (count == rows_of(band)) {
                encode(band, memory);
            } else {
                add(band, first, count, memory);
            }
            first += count;
            memory += count * access_.row_bytes;
        }
    }
    void release_waiting() override { queue_.abort(); }

private:
    // Rows of a band that is not whole yet.
    struct open_band {
        scratch memory;
        std::uint64_t rows = 0;
    };

    std::uint64_t rows_of(std::uint64_t band) const {
        return std::min(grid_.band_rows(), job_.rows - band * grid_.band_rows());
    }

    void add(std::uint64_t band, std::uint64_t first, std::uint64_t rows, const std::byte* memory) {
        std::byte* to = nullptr;
        {
            const std::scoped_lock lock(mutex_);
            open_band& open = open_[band];
            if (open.memory.data() == nullptr && !spare_.empty()) {
                open.memory = std::move(spare_.back());
                spare_.pop_back();
            }
            to = open.memory.reserve(grid_.band_rows() * access_.row_bytes);
        }
        std::memcpy(to + (first - band * grid_.band_rows()) * access_.row_bytes, memory,
                    rows * access_.row_bytes);
        scratch whole;
        {
            const std::scoped_lock lock(mutex_);
            const auto open = open_.find(band);
            open->second.rows += rows;
            if (open->second.rows != rows_of(band)) return;
            whole = std::move(open->second.memory);
            open_.erase(open);
        }
        encode(band, whole.data());
        const std::scoped_lock lock(mutex_);
        spare_.push_back(std::move(whole));
    }

    void encode(std::uint64_t band, const std::byte* memory) {
        std::unique_ptr<chunk_writer> writer = take_writer();
        const std::uint64_t chunks = grid_.chunks_per_band();
        encoded_unit unit = writer->encode(band * chunks, chunks, memory);
        {
            const std::scoped_lock lock(mutex_);
            writers_.push_back(std::move(writer));
        }
        queue_.submit(band, std::move(unit),
                      [&](const encoded_unit& next) { write_unit(job_, grid_, next); });
    }

    std::unique_ptr<chunk_writer> take_writer() {
        {
            const std::scoped_lock lock(mutex_);
            if (!writers_.empty()) {
                auto writer = std::move(writers_.back());
                writers_.pop_back();
                return writer;
            }
        }
        return std::make_unique<chunk_writer>(job_, grid_, fill_value_);
    }

    const chunk_grid grid_;
    const std::vector<std::byte> fill_value_;
    ordered_queue<encoded_unit> queue_;
    std::mutex mutex_;
    std::map<std::uint64_t, open_band> open_;
    std::vector<scratch> spare_;
    std::vector<std::unique_ptr<chunk_writer>> writers_;  // that no thread uses now
};

bool range_writer::suits(const dataset& target, form form) {
    switch (plan_access(target, form).route) {
        case io::route::contiguous:
            return true;
        case io::route::chunks:
            return target.chunk()[0] * target.row_bytes(form) <= largest_band_bytes;
        default:
            return false;
    }
}

range_writer::range_writer(const dataset& target, form form, const transfer_options& options) {
    if (!suits(target, form)) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{} cannot be written in ranges", target.address()));
    }
    if (target.chunk().empty()) {
        route_ = std::make_unique<contiguous_route>(target, form, options);
    } else {
        route_ = std::make_unique<chunk_route>(target, form, options);
    }
}

range_writer::~range_writer() = default;

void range_writer::write(std::uint64_t first, std::uint64_t rows, const void* memory) {
    if (first > route_->rows() || rows > route_->rows() - first) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: rows {} to {} of its {} cannot be written", route_->address(),
                                first, first + rows, route_->rows()));
    }
    if (rows == 0) return;  // a sort has such ranges where no number stands before its zeros
    // After a failure the others need not go on. All throw the first one, since nobody knows which
    // thread's exception the caller will see.
    if (route_->failure.raised()) route_->failure.rethrow();
    try {
        route_->write(first, rows, static_cast<const std::byte*>(memory));
    } catch (...) {
        route_->failure.raise(std::current_exception());
        route_->release_waiting();
        route_->failure.rethrow();
    }
    route_->taken += rows;
}

void range_writer::finish() {
    if (route_->taken == route_->rows()) return;
    throw error(error_kind::invalid_argument,
                fmt::format("{}: {} of its {} rows were written", route_->address(),
                            route_->taken.load(), route_->rows()));
}

}  // namespace lookback::io
