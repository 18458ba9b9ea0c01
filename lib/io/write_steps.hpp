// Level lib/io, private: the steps of every way to write: rows taken, encoded, put into the file.
// Invariant: encoding runs in any thread, with a chunk_writer of its own; write_unit() takes units
// one at a time, in order.
#pragma once

#include "io/byte_order.hpp"
#include "io/chunk_codec.hpp"
#include "io/chunk_grid.hpp"
#include "io/raw_access.hpp"
#include "io/transfer.hpp"
#include "io/workers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace lookback::io {

// Bands of chunks up to this size are made and encoded by one thread; of larger ones every thread
// would hold one.
inline constexpr std::uint64_t largest_band_bytes = 16 << 20;

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

/// Writes rows of contiguous data as they lie in the file.
inline void pwrite_all(const write_job& job, const std::byte* from, std::uint64_t bytes,
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

/// The bytes in the file's order: `from` itself, or a swapped copy.
inline const std::byte* in_file_order(const write_job& job, const std::byte* from,
                                      std::uint64_t bytes, scratch& buffer) {
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
        const auto rows = grid_.rows_of(first_chunk, {job_.first, job_.first + job_.rows});
        return encode(first_chunk, chunks, job_.take(rows.first, rows.end - rows.first, made_));
    }
    /// From memory that begins with the chunks' first row.
    encoded_unit encode(std::uint64_t first_chunk, std::uint64_t chunks, const std::byte* from) {
        encoded_unit unit;
        const auto rows = grid_.rows_of(first_chunk, {job_.first, job_.first + job_.rows});
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

inline void write_unit(const write_job& job, const chunk_grid& grid, const encoded_unit& unit) {
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
inline std::uint64_t window_of(const transfer_options& options) {
    return 2 * static_cast<std::uint64_t>(thread_count(options, ~std::uint64_t{0})) + 2;
}

}  // namespace lookback::io
