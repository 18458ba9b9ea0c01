#include "io/byte_order.hpp"
#include "io/chunk_codec.hpp"
#include "io/chunk_grid.hpp"
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

// Long enough that a call's cost vanishes, short enough to stay in a core's cache for the swap.
constexpr std::uint64_t slice_bytes = 1 << 20;

constexpr std::string_view cannot_read = "cannot read";

/// One read_rows call.
struct read_job {
    const dataset& source;
    const raw_access access;
    std::uint64_t first, rows;
    std::byte* memory;
    const transfer_options& options;

    bool wants(std::uint64_t begin, std::uint64_t end) const {
        return !options.wanted || options.wanted(begin, end);
    }
    void arrived(std::uint64_t bytes) const {
        if (options.counters != nullptr) {
            options.counters->bytes_in.fetch_add(bytes, std::memory_order_relaxed);
        }
    }
};

void pread_all(const read_job& job, std::byte* to, std::uint64_t bytes, std::uint64_t offset) {
    while (bytes > 0) {
        const ssize_t got = pread(job.access.descriptor, to, bytes, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw_io_error(job.access.subject, cannot_read, std::strerror(errno));
        if (got == 0) {
            throw_io_error(job.access.subject, cannot_read,
                           "the file is truncated; copy or download it again");
        }
        to += got;
        bytes -= static_cast<std::uint64_t>(got);
        offset += static_cast<std::uint64_t>(got);
    }
}

void read_contiguous(const read_job& job) {
    const std::uint64_t bytes = job.rows * job.access.row_bytes;
    const std::uint64_t begin = job.access.file_offset + job.first * job.access.row_bytes;
    const std::uint64_t slices = (bytes + slice_bytes - 1) / slice_bytes;
    for_each_item(slices, job.options, [&] {
        return [&](std::uint64_t slice) {
            const std::uint64_t at = slice * slice_bytes;
            const std::uint64_t size = std::min(slice_bytes, bytes - at);
            const std::uint64_t end = (at + size + job.access.row_bytes - 1) / job.access.row_bytes;
            if (!job.wants(job.first + at / job.access.row_bytes, job.first + end)) return;
            {
                stage_timer timer(job.options.counters, stage::read);
                pread_all(job, job.memory + at, size, begin + at);
                timer.add_bytes(size);
            }
            if (job.access.swap_bytes != 0) {
                stage_timer timer(job.options.counters, stage::decode);
                swap_in_place(job.memory + at, size, job.access.swap_bytes);
                timer.add_bytes(size);
            }
            job.arrived(size);
        };
    });
}

/// One thread that reads chunks.
class chunk_reader {
public:
    chunk_reader(const read_job& job, const chunk_grid& grid,
                 const std::vector<std::byte>& fill_value)
        : job_(job),
          grid_(grid),
          fill_value_(fill_value),
          codec_(job.access.subject, job.source.filters(), grid.chunk_bytes(),
                 job.access.swap_bytes) {}

    void operator()(std::uint64_t chunk) {
        const auto rows = grid_.rows_of(chunk, {job_.first, job_.first + job_.rows});
        if (!job_.wants(rows.first, rows.end)) return;
        const bool dense = grid_.is_dense(rows);
        std::byte* const to =
            dense ? job_.memory + (rows.first - job_.first) * grid_.row_bytes() : nullptr;
        if (to != nullptr) {
            read(chunk, to);
        } else {
            std::byte* const whole = partial_.reserve(grid_.chunk_bytes());
            read(chunk, whole);
            grid_.copy_out(chunk, rows, whole, job_.memory, job_.first);
        }
        // Chunks of one band share their rows: each counts for its part.
        job_.arrived((rows.end - rows.first) * grid_.row_bytes() / grid_.chunks_per_band());
    }

private:
    void read(std::uint64_t chunk, std::byte* to) {
        unsigned mask = 0;
        const bool plain = job_.source.filters().empty() && job_.access.swap_bytes == 0;
        const std::span<const std::byte> raw =
            fetch(grid_.offset(chunk), plain ? to : nullptr, mask);
        stage_timer timer(job_.options.counters, stage::decode);
        if (raw.empty()) {
            fill_memory(fill_value_, to, grid_.chunk_bytes());
        } else if (!plain) {
            codec_.decode(raw, mask, to);
        }
        timer.add_bytes(raw.size());
    }

    // The stored bytes of a chunk, empty where it was never written. `direct` receives the bytes of
    // chunks that need no decoding.
    std::span<const std::byte> fetch(const std::vector<std::uint64_t>& offset, std::byte* direct,
                                     unsigned& mask) {
        const auto lock = library_lock();
        stage_timer timer(job_.options.counters, stage::read);
        const std::vector<hsize_t> at(offset.begin(), offset.end());
        const hid_t id = job_.source.id().id();
        const hsize_t size = stored_size(id, at);
        if (size == 0) return {};
        if (direct != nullptr && size != grid_.chunk_bytes()) {
            throw_io_error(job_.access.subject, cannot_read,
                           fmt::format("the data are damaged: a chunk has {} bytes instead of {}",
                                       size, grid_.chunk_bytes()));
        }
        std::byte* const to = direct != nullptr ? direct : raw_.reserve(size);
        checked(job_.access.subject, cannot_read,
                [&] { return H5Dread_chunk(id, H5P_DEFAULT, at.data(), &mask, to); });
        timer.add_bytes(size);
        return {to, size};
    }

    // 0 where the chunk was never written: HDF5 1.10 calls that an error.
    hsize_t stored_size(hid_t id, const std::vector<hsize_t>& at) const {
        hsize_t size = 0;
        if (H5Dget_chunk_storage_size(id, at.data(), &size) >= 0) return size;
        const auto lines = take_error_lines();
        for (const auto& line : lines) {
            if (line.find("not allocated") != std::string::npos) return 0;
        }
        throw_io_error(job_.access.subject, cannot_read,
                       lines.empty() ? "a chunk cannot be found" : lines.front());
    }

    const read_job& job_;
    const chunk_grid& grid_;
    const std::vector<std::byte>& fill_value_;
    chunk_codec codec_;
    scratch raw_;
    scratch partial_;
};

void read_chunks(const read_job& job) {
    const chunk_grid grid(job.source.shape(), job.source.chunk(), job.access.item_bytes);
    const auto fill_value = fill_item(job.source, job.access);
    const std::uint64_t begin = job.first / grid.band_rows();
    const std::uint64_t end = (job.first + job.rows + grid.band_rows() - 1) / grid.band_rows();
    for_each_item((end - begin) * grid.chunks_per_band(), job.options, [&] {
        return [&, reader = chunk_reader(job, grid, fill_value)](std::uint64_t item) mutable {
            reader(begin * grid.chunks_per_band() + item);
        };
    });
}

void read_through_hdf5(const read_job& job) {
    const std::uint64_t batch = rows_at_once(job.source, job.access.row_bytes);
    // Batches start at whole chunks.
    const std::uint64_t skew = job.first % batch;
    const std::uint64_t batches = (skew + job.rows + batch - 1) / batch;
    transfer_options one_thread = job.options;
    one_thread.threads = 1;
    for_each_item(batches, one_thread, [&] {
        return [&](std::uint64_t item) {
            const std::uint64_t begin = std::max(job.first, job.first - skew + item * batch);
            const std::uint64_t end =
                std::min(job.first + job.rows, job.first - skew + (item + 1) * batch);
            if (!job.wants(begin, end)) return;
            const auto selection = select_rows(job.source, begin, end - begin);
            std::byte* const to = job.memory + (begin - job.first) * job.access.row_bytes;
            const std::uint64_t bytes = (end - begin) * job.access.row_bytes;
            stage_timer timer(job.options.counters, stage::read);
            checked(job.access.subject, cannot_read, [&] {
                return H5Dread(job.source.id().id(), job.access.memory_type.id(),
                               selection.memory_space.id(), selection.file_space.id(), H5P_DEFAULT,
                               to);
            });
            swap_in_place(to, bytes, job.access.swap_bytes);
            timer.add_bytes(bytes);
            job.arrived(bytes);
        };
    });
}

}  // namespace

void read_rows(const dataset& source, std::uint64_t first, std::uint64_t rows, form form,
               void* memory, const transfer_options& options) {
    if (first > source.rows() || rows > source.rows() - first) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: rows {} to {} of {} were asked for", source.address(), first,
                                first + rows, source.rows()));
    }
    const read_job job{source, plan_access(source, form),       first,
                       rows,   static_cast<std::byte*>(memory), options};
    if (rows == 0) return;
    switch (job.access.route) {
        case route::none:
            return;
        case route::fill:
            fill_memory(fill_item(source, job.access), job.memory, rows * job.access.row_bytes);
            return job.arrived(rows * job.access.row_bytes);
        case route::contiguous:
            return read_contiguous(job);
        case route::chunks:
            return read_chunks(job);
        case route::hdf5:
            return read_through_hdf5(job);
    }
}

void read(const dataset& source, form form, void* memory, const transfer_options& options) {
    read_rows(source, 0, source.rows(), form, memory, options);
}

}  // namespace lookback::io
