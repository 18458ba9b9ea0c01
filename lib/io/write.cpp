#include "io/byte_order.hpp"
#include "io/chunk_codec.hpp"
#include "io/chunk_grid.hpp"
#include "io/ordered_queue.hpp"
#include "io/raw_access.hpp"
#include "io/transfer.hpp"
#include "io/workers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace lookback::io {
namespace {

constexpr std::uint64_t slice_bytes = 1 << 20;
// Bands of chunks up to this size are made and encoded by one thread; larger ones are made as a
// whole first, or every thread would hold one.
constexpr std::uint64_t largest_band_bytes = 16 << 20;

constexpr std::string_view cannot_write = "cannot write";

/// One write call: rows [first, first + rows) from memory, or from a producer.
struct write_job {
    const dataset& target;
    const raw_access& access;
    std::uint64_t first, rows;
    const std::byte* memory;  // of row `first`; null with a producer
    const row_producer* produce;
    const transfer_options& options;

    // The bytes of some rows: in the caller's memory, or made in `buffer`.
    const std::byte* take(std::uint64_t row, std::uint64_t count, scratch& buffer) const {
        if (memory != nullptr) return memory + (row - first) * access.row_bytes;
        std::byte* const to = buffer.reserve(count * access.row_bytes);
        stage_timer timer(options.counters, stage::work);
        (*produce)(row, count, to);
        timer.add_bytes(count * access.row_bytes);
        return to;
    }
    void written(std::uint64_t bytes) const {
        if (options.counters != nullptr) {
            options.counters->bytes_out.fetch_add(bytes, std::memory_order_relaxed);
        }
    }
};

void pwrite_all(const write_job& job, const std::byte* from, std::uint64_t bytes,
                std::uint64_t offset) {
    while (bytes > 0) {
        const ssize_t put = pwrite(job.access.descriptor, from, bytes, static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) throw_io_error(job.access.subject, cannot_write, std::strerror(errno));
        from += put;
        bytes -= static_cast<std::uint64_t>(put);
        offset += static_cast<std::uint64_t>(put);
    }
}

// The bytes in the file's order: `from` itself, or a swapped copy.
const std::byte* in_file_order(const write_job& job, const std::byte* from, std::uint64_t bytes,
                               scratch& buffer) {
    if (job.access.swap_bytes == 0) return from;
    stage_timer timer(job.options.counters, stage::encode);
    std::byte* const to = buffer.reserve(bytes);
    std::memcpy(to, from, bytes);
    swap_in_place(to, bytes, job.access.swap_bytes);
    timer.add_bytes(bytes);
    return to;
}

/// An encoded chunk on its way to the file.
struct encoded_chunk {
    std::uint64_t chunk = 0;
    unsigned filter_mask = 0;
    scratch bytes;
    std::size_t size = 0;
};

/// One unit of work: the chunks that one thread encodes and that are written together.
struct encoded_unit {
    std::vector<encoded_chunk> chunks;
    std::uint64_t memory_bytes = 0;
};

/// One thread that encodes chunks.
class chunk_writer {
public:
    chunk_writer(const write_job& job, const chunk_grid& grid,
                 const std::vector<std::byte>& fill_value)
        : job_(job),
          grid_(grid),
          fill_value_(fill_value),
          codec_(job.access.subject, job.target.filters(), grid.chunk_bytes(),
                 job.access.swap_bytes) {}

    encoded_unit encode(std::uint64_t first_chunk, std::uint64_t chunks) {
        encoded_unit unit;
        const auto rows = grid_.rows_of(first_chunk, {job_.first, job_.first + job_.rows});
        const std::byte* const from = job_.take(rows.first, rows.end - rows.first, made_);
        for (std::uint64_t i = 0; i < chunks; ++i) {
            unit.chunks.push_back(encode_chunk(first_chunk + i, rows, from));
        }
        unit.memory_bytes =
            (rows.end - rows.first) * grid_.row_bytes() * chunks / grid_.chunks_per_band();
        return unit;
    }

private:
    encoded_chunk encode_chunk(std::uint64_t chunk, chunk_grid::row_range rows,
                               const std::byte* from) {
        stage_timer timer(job_.options.counters, stage::encode);
        const std::byte* data = from;
        if (!grid_.is_dense(rows)) {
            std::byte* const whole = partial_.reserve(grid_.chunk_bytes());
            // What lies outside the dataset must be the fill value, in case it is extended.
            if (grid_.is_partial(chunk)) fill_memory(fill_value_, whole, grid_.chunk_bytes());
            grid_.copy_in(chunk, rows, whole, from, rows.first);
            data = whole;
        }
        const auto [bytes, filter_mask] = codec_.encode(data);
        encoded_chunk result;
        result.chunk = chunk;
        result.filter_mask = filter_mask;
        result.size = bytes.size();
        std::memcpy(result.bytes.reserve(bytes.size()), bytes.data(), bytes.size());
        timer.add_bytes(bytes.size());
        return result;
    }

    const write_job& job_;
    const chunk_grid& grid_;
    const std::vector<std::byte>& fill_value_;
    chunk_codec codec_;
    scratch made_;
    scratch partial_;
};

void write_unit(const write_job& job, const chunk_grid& grid, const encoded_unit& unit) {
    for (const auto& chunk : unit.chunks) {
        const auto lock = library_lock();
        stage_timer timer(job.options.counters, stage::write);
        const auto offset = grid.offset(chunk.chunk);
        const std::vector<hsize_t> at(offset.begin(), offset.end());
        checked(job.access.subject, cannot_write, [&] {
            return H5Dwrite_chunk(job.target.id().id(), H5P_DEFAULT, chunk.filter_mask, at.data(),
                                  chunk.size, chunk.bytes.data());
        });
        timer.add_bytes(chunk.size);
    }
    job.written(unit.memory_bytes);
}

// Waiting units; enough that no thread waits for a slower one's turn.
std::uint64_t window_of(const transfer_options& options) {
    return 2 * static_cast<std::uint64_t>(thread_count(options, ~std::uint64_t{0})) + 2;
}

void write_chunks(const write_job& job) {
    const chunk_grid grid(job.target.shape(), job.target.chunk(), job.access.item_bytes);
    const auto fill_value = fill_item(job.target, job.access);
    const std::uint64_t first = job.first / grid.band_rows() * grid.chunks_per_band();
    const std::uint64_t bands = (job.rows + grid.band_rows() - 1) / grid.band_rows();
    // A producer makes whole rows, so its unit is a band; memory is taken chunk by chunk.
    const std::uint64_t unit_chunks = job.memory == nullptr ? grid.chunks_per_band() : 1;
    ordered_queue<encoded_unit> queue(window_of(job.options));
    for_each_item(
        bands * grid.chunks_per_band() / unit_chunks, job.options,
        [&] {
            return [&, writer = chunk_writer(job, grid, fill_value)](std::uint64_t item) mutable {
                queue.submit(item, writer.encode(first + item * unit_chunks, unit_chunks),
                             [&](const encoded_unit& unit) { write_unit(job, grid, unit); });
            };
        },
        [&] { queue.abort(); });
}

/// Rows on their way to the file as they are.
struct row_batch {
    std::uint64_t row = 0, rows = 0;
    scratch made, swapped;
    const std::byte* from = nullptr;
};

// Makes batches in threads; `put` writes them, in order and one at a time: two writers to one file
// fight for its lock (two of them take three times as long as one).
template <class Put>
void write_batches(const write_job& job, std::uint64_t batch, const Put& put) {
    ordered_queue<row_batch> queue(window_of(job.options));
    const auto write_batch = [&](const row_batch& rows) {
        const std::uint64_t bytes = rows.rows * job.access.row_bytes;
        stage_timer timer(job.options.counters, stage::write);
        put(rows, bytes);
        timer.add_bytes(bytes);
        job.written(bytes);
    };
    transfer_options options = job.options;
    // Memory that is written as it is leaves the other threads nothing to do.
    if (job.memory != nullptr && job.access.swap_bytes == 0) options.threads = 1;
    for_each_item((job.rows + batch - 1) / batch, options,
                  [&] {
                      return [&](std::uint64_t item) {
                          row_batch rows;
                          rows.row = job.first + item * batch;
                          rows.rows = std::min(batch, job.first + job.rows - rows.row);
                          rows.from = job.take(rows.row, rows.rows, rows.made);
                          rows.from = in_file_order(job, rows.from,
                                                    rows.rows * job.access.row_bytes, rows.swapped);
                          queue.submit(item, std::move(rows), write_batch);
                      };
                  },
                  [&] { queue.abort(); });
}

void write_contiguous(const write_job& job) {
    const std::uint64_t batch = std::max<std::uint64_t>(1, slice_bytes / job.access.row_bytes);
    write_batches(job, batch, [&](const row_batch& rows, std::uint64_t bytes) {
        pwrite_all(job, rows.from, bytes, job.access.file_offset + rows.row * job.access.row_bytes);
    });
}

void write_through_hdf5(const write_job& job) {
    const std::uint64_t batch = rows_at_once(job.target, job.access.row_bytes);
    write_batches(job, batch, [&](const row_batch& rows, std::uint64_t) {
        const auto selection = select_rows(job.target, rows.row, rows.rows);
        checked(job.access.subject, cannot_write, [&] {
            return H5Dwrite(job.target.id().id(), job.access.memory_type.id(),
                            selection.memory_space.id(), selection.file_space.id(), H5P_DEFAULT,
                            rows.from);
        });
    });
}

void run(const write_job& job) {
    switch (job.access.route) {
        case route::none:
            return;
        case route::contiguous:
            return write_contiguous(job);
        case route::chunks:
            return write_chunks(job);
        case route::fill:
        case route::hdf5:
            return write_through_hdf5(job);
    }
}

// Makes one band after the other, each by all threads, and writes it from memory.
void run_by_bands(const write_job& job, std::uint64_t band_rows) {
    scratch band;
    for (std::uint64_t row = 0; row < job.rows; row += band_rows) {
        const std::uint64_t rows = std::min(band_rows, job.rows - row);
        std::byte* const memory = band.reserve(band_rows * job.access.row_bytes);
        const std::uint64_t batch = std::max<std::uint64_t>(1, slice_bytes / job.access.row_bytes);
        for_each_item((rows + batch - 1) / batch, job.options, [&] {
            return [&](std::uint64_t item) {
                const std::uint64_t count = std::min(batch, rows - item * batch);
                stage_timer timer(job.options.counters, stage::work);
                (*job.produce)(row + item * batch, count,
                               memory + item * batch * job.access.row_bytes);
                timer.add_bytes(count * job.access.row_bytes);
            };
        });
        run({job.target, job.access, row, rows, memory, nullptr, job.options});
    }
}

}  // namespace

void write_rows(const dataset& target, std::uint64_t first, std::uint64_t rows, form form,
                const void* memory, const transfer_options& options) {
    const std::uint64_t end = first + rows;
    const std::uint64_t unit = target.chunk().empty() ? 1 : target.chunk()[0];
    const bool inside = first <= target.rows() && rows <= target.rows() - first;
    if (!inside || first % unit != 0 || (end % unit != 0 && end != target.rows())) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: rows {} to {} cannot be written by themselves: it has {} rows "
                                "in chunks of {}",
                                target.address(), first, end, target.rows(), unit));
    }
    const raw_access access = plan_access(target, form);
    if (rows == 0) return;
    run({target, access, first, rows, static_cast<const std::byte*>(memory), nullptr, options});
}

void write(const dataset& target, form form, const void* memory, const transfer_options& options) {
    write_rows(target, 0, target.rows(), form, memory, options);
}

void write(const dataset& target, form form, const row_producer& produce,
           const transfer_options& options) {
    const raw_access access = plan_access(target, form);
    if (access.route == route::none) return;
    const write_job job{target, access, 0, target.rows(), nullptr, &produce, options};
    const std::uint64_t band_rows = target.chunk().empty() ? 1 : target.chunk()[0];
    if (!target.chunk().empty() && band_rows * access.row_bytes > largest_band_bytes) {
        run_by_bands(job, band_rows);
    } else {
        run(job);
    }
}

}  // namespace lookback::io
