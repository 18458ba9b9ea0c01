#include "io/byte_order.hpp"
#include "io/ordered_queue.hpp"
#include "io/raw_access.hpp"
#include "io/workers.hpp"
#include "io/write_steps.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace lookback::io {
namespace {

constexpr std::uint64_t write_slice_bytes = 1 << 20;

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
    const std::uint64_t batch =
        std::max<std::uint64_t>(1, write_slice_bytes / job.access.row_bytes);
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
        const std::uint64_t batch =
            std::max<std::uint64_t>(1, write_slice_bytes / job.access.row_bytes);
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
