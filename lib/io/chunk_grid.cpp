#include "io/chunk_grid.hpp"

#include <algorithm>
#include <cstring>

namespace lookback::io {

chunk_grid::chunk_grid(const shape& shape, const std::vector<std::uint64_t>& chunk,
                       std::size_t item_bytes)
    : dims_(shape.dims),
      chunk_(chunk),
      counts_(chunk.size()),
      chunk_strides_(chunk.size()),
      row_strides_(chunk.size()) {
    std::uint64_t chunk_stride = item_bytes;
    std::uint64_t row_stride = item_bytes;
    for (std::size_t k = chunk_.size(); k-- > 0;) {
        counts_[k] = (dims_[k] + chunk_[k] - 1) / chunk_[k];
        chunk_strides_[k] = chunk_stride;
        row_strides_[k] = row_stride;
        chunk_stride *= chunk_[k];
        row_stride *= dims_[k];
        if (k == 0) continue;
        chunks_per_band_ *= counts_[k];
        full_width_ &= chunk_[k] == dims_[k];
    }
    chunk_bytes_ = chunk_stride;
    row_bytes_ = row_strides_[0];
}

std::vector<std::uint64_t> chunk_grid::offset(std::uint64_t chunk) const {
    std::vector<std::uint64_t> result(chunk_.size());
    for (std::size_t k = chunk_.size(); k-- > 1;) {
        result[k] = chunk % counts_[k] * chunk_[k];
        chunk /= counts_[k];
    }
    result[0] = chunk * chunk_[0];
    return result;
}

chunk_grid::row_range chunk_grid::rows_of(std::uint64_t chunk, row_range wanted) const {
    const std::uint64_t first = chunk / chunks_per_band_ * chunk_[0];
    return {std::max(first, wanted.first), std::min({first + chunk_[0], wanted.end, dims_[0]})};
}

bool chunk_grid::is_dense(row_range rows) const noexcept {
    return full_width_ && rows.end - rows.first == chunk_[0];
}

bool chunk_grid::is_partial(std::uint64_t chunk) const {
    const auto at = offset(chunk);
    for (std::size_t k = 0; k < at.size(); ++k) {
        if (at[k] + chunk_[k] > dims_[k]) return true;
    }
    return false;
}

// Calls copy(offset in the chunk, offset in memory, bytes) for each run that both hold as one.
template <class CopyRun>
void chunk_grid::for_each_run(std::uint64_t chunk, row_range rows, std::uint64_t memory_first,
                              const CopyRun& copy) const {
    const auto at = offset(chunk);
    std::vector<std::uint64_t> extent(at.size());
    extent[0] = rows.end - rows.first;
    std::uint64_t chunk_at = (rows.first - at[0]) * chunk_strides_[0];
    std::uint64_t memory_at = (rows.first - memory_first) * row_strides_[0];
    for (std::size_t k = 1; k < at.size(); ++k) {
        extent[k] = std::min(chunk_[k], dims_[k] - at[k]);
        memory_at += at[k] * row_strides_[k];
    }
    // Dimensions from `outer` on form one run: all behind it are as wide as chunk and dataset.
    std::size_t outer = at.size() - 1;
    while (outer > 0 && extent[outer] == chunk_[outer] && extent[outer] == dims_[outer]) --outer;
    const std::uint64_t run_bytes = extent[outer] * chunk_strides_[outer];
    std::vector<std::uint64_t> index(outer, 0);
    while (true) {
        copy(chunk_at, memory_at, run_bytes);
        std::size_t k = outer;
        for (; k-- > 0;) {
            chunk_at += chunk_strides_[k];
            memory_at += row_strides_[k];
            if (++index[k] < extent[k]) break;
            chunk_at -= extent[k] * chunk_strides_[k];
            memory_at -= extent[k] * row_strides_[k];
            index[k] = 0;
            if (k == 0) return;
        }
        if (outer == 0) return;
    }
}

void chunk_grid::copy_out(std::uint64_t chunk, row_range rows, const std::byte* chunk_data,
                          std::byte* memory, std::uint64_t memory_first) const {
    for_each_run(chunk, rows, memory_first,
                 [&](std::uint64_t chunk_at, std::uint64_t memory_at, std::uint64_t bytes) {
                     std::memcpy(memory + memory_at, chunk_data + chunk_at, bytes);
                 });
}

void chunk_grid::copy_in(std::uint64_t chunk, row_range rows, std::byte* chunk_data,
                         const std::byte* memory, std::uint64_t memory_first) const {
    for_each_run(chunk, rows, memory_first,
                 [&](std::uint64_t chunk_at, std::uint64_t memory_at, std::uint64_t bytes) {
                     std::memcpy(chunk_data + chunk_at, memory + memory_at, bytes);
                 });
}

}  // namespace lookback::io
