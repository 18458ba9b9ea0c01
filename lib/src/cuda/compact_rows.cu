// CUDA backend: rows of 1, 2, 4, 8 and 16 bytes that move by flags or by marks.
#include "cuda/compact_column.cuh"
#include "cuda/key_width.hpp"

namespace lookback::cuda {
namespace {

template <class Row>
kernels::compact_request<kernels::moved_items<Row>> request_of(const flat_column& column) {
    return {.rows = {static_cast<const Row*>(column.in), static_cast<Row*>(column.kept),
                     static_cast<Row*>(column.rest)},
            .items = column.items,
            .count = column.count,
            .kept_room = column.kept_room,
            .rest_room = column.rest_room,
            .in_place = column.in == column.kept};
}

/// body(Row{}) for the rows of so many bytes.
template <class Body>
void with_row(std::size_t bytes, Body body) {
    if (bytes == sizeof(uint4)) return body(uint4{});
    with_bits(bytes, body);
}

}  // namespace

void compact_flat(gpu_device& gpu, const flat_column& column, const flags_in_memory& flags) {
    with_row(column.row_bytes, [&](auto row) {
        auto request = request_of<decltype(row)>(column);
        request.inverted = flags.inverted;
        cuda_check(
            kernels::compact(compact_workspace(gpu, column.items), request,
                             kernels::memory_flags{flags.data, flags.bits}, gpu.native_stream()),
            "launch a compaction");
    });
}

void move_flat(gpu_device& gpu, const flat_column& column, const std::uint32_t* words,
               const index_t* offsets) {
    with_row(column.row_bytes, [&](auto row) {
        cuda_check(kernels::move_by_marks(request_of<decltype(row)>(column), words, offsets,
                                          gpu.native_stream()),
                   "launch the move of a column");
    });
}

}  // namespace lookback::cuda
