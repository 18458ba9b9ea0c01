#include "cpu/compact.hpp"

#include "cpu/compact_apart.hpp"
#include "cpu/compact_in_place.hpp"
#include "cpu/compact_rows.hpp"
#include "cpu/compact_wide.hpp"

#include <algorithm>

namespace lookback::cpu {
namespace {

// One of the ways on so many threads.
template <class Way>
void run_way(executor& threads, memory_resource& memory, std::size_t workers, Way&& way) {
    const std::size_t bytes = (way.scratch_bytes() + 63) / 64 * 64;
    const buffer<std::byte> scratch(memory, workers * bytes);
    threads.for_each(workers,
                     [&](std::size_t worker) { way.work(scratch.data() + worker * bytes); });
}

}  // namespace

std::size_t compact(executor& threads, memory_resource& memory, std::size_t rows,
                    const block_marker& mark, std::span<const compact_column> columns,
                    const compact_room& room, const compact_limits& limits) {
    if (rows == 0) return 0;
    const std::size_t row_bytes = moved_bytes(columns);
    const bool wide = row_bytes > limits.wide_row_bytes;
    const bool in_place =
        std::any_of(columns.begin(), columns.end(), [](const compact_column& column) {
            return column.in != nullptr && column.in == column.kept;
        });
    compact_tiles tiles(memory, rows, compact_tile_rows(row_bytes, limits));
    const bool one = (wide && in_place) || rows * (row_bytes + 1) < limits.threads_from_bytes;
    const std::size_t workers =
        one ? 1 : std::min(static_cast<std::size_t>(threads.threads()), tiles.count());
    if (wide) {
        run_way(threads, memory, workers, compact_wide(tiles, mark, columns, room));
    } else if (in_place) {
        run_way(threads, memory, workers, compact_in_place(tiles, mark, columns, room));
    } else {
        const bool stream = rows * row_bytes >= limits.stream_from_bytes;
        run_way(threads, memory, workers,
                compact_apart(tiles, mark, columns, room, {workers, stream}));
    }
    return tiles.kept();
}

}  // namespace lookback::cpu
