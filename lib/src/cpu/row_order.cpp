#include "cpu/row_order.hpp"

#include "cpu/tickets.hpp"

#include <lookback/kernels/core/tile_shape.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace lookback::cpu {
namespace {

// Two arrays of numbers and one of results stay in the first-level cache.
constexpr std::size_t tile_rows = 1024;

// Compares the rows of one tile with those before them, one column after the other, and stops at
// the first column that leaves no two neighbours equal.
class neighbour_tile {
public:
    /// load(column, first, count, out) gives the numbers of rows [first, first + count).
    /// Afterwards orders()[i] is -1, 0 or 1: row begin + i - 1 against row begin + i; begin >= 1.
    template <class Load>
    void compare(std::span<const key_column> columns, std::size_t begin, std::size_t count,
                 const Load& load) {
        std::fill_n(orders_, count, std::int8_t{0});
        for (const key_column& column : columns) {
            load(column, begin - 1, count + 1, numbers_);
            int equal = 0;
            for (std::size_t i = 0; i < count; ++i) {
                const int order = static_cast<int>(numbers_[i] > numbers_[i + 1]) -
                                  static_cast<int>(numbers_[i] < numbers_[i + 1]);
                orders_[i] = static_cast<std::int8_t>(orders_[i] != 0 ? orders_[i] : order);
                equal += static_cast<int>(orders_[i] == 0);
            }
            if (equal == 0) return;
        }
    }
    const std::int8_t* orders() const { return orders_; }

private:
    std::uint64_t numbers_[tile_rows + 1];
    std::int8_t orders_[tile_rows];
};

// body(tile scratch, begin, count) over the tiles of rows [1, rows), taken in order by ticket.
// Tiles of which stop(begin) says so are left out.
template <class Body, class Stop>
void for_each_tile(executor& executor, std::size_t rows, const Body& body, const Stop& stop) {
    if (rows < 2) return;
    const core::tile_shape shape{static_cast<core::index_t>(rows - 1), tile_rows};
    for_each_ticket(executor, static_cast<std::size_t>(shape.tiles()), [&](int) {
        return [&, tile = neighbour_tile()](std::size_t ticket) mutable {
            const auto mine = static_cast<core::index_t>(ticket);
            const auto begin = static_cast<std::size_t>(shape.begin(mine)) + 1;
            if (!stop(begin)) body(tile, begin, static_cast<std::size_t>(shape.size(mine)));
        };
    });
}

template <class Load>
void mark_heads_by(executor& executor, std::span<const key_column> columns,
                   std::span<std::uint8_t> heads, const Load& load) {
    if (heads.empty()) return;
    heads[0] = 1;
    for_each_tile(
        executor, heads.size(),
        [&](neighbour_tile& tile, std::size_t begin, std::size_t count) {
            tile.compare(columns, begin, count, load);
            for (std::size_t i = 0; i < count; ++i) heads[begin + i] = tile.orders()[i] != 0;
        },
        [](std::size_t) { return false; });
}

}  // namespace

std::size_t first_disorder(executor& executor, std::span<const key_column> columns,
                           std::size_t rows, bool strict) {
    const auto load = [](const key_column& column, std::size_t first, std::size_t count,
                         std::uint64_t* out) { column.load(first, count, out); };
    const int least_disorder = strict ? 0 : 1;
    std::atomic<std::size_t> found{rows};
    for_each_tile(
        executor, rows,
        [&](neighbour_tile& tile, std::size_t begin, std::size_t count) {
            tile.compare(columns, begin, count, load);
            const auto* end = tile.orders() + count;
            const auto* at = std::find_if(
                tile.orders(), end, [&](std::int8_t order) { return order >= least_disorder; });
            if (at == end) return;
            const auto row = begin + static_cast<std::size_t>(at - tile.orders());
            std::size_t least = found.load(std::memory_order_relaxed);
            while (row < least &&
                   !found.compare_exchange_weak(least, row, std::memory_order_relaxed)) {
            }
        },
        [&](std::size_t begin) { return begin > found.load(std::memory_order_relaxed); });
    return found.load(std::memory_order_relaxed);
}

void mark_heads(executor& executor, std::span<const key_column> columns,
                std::span<std::uint8_t> heads) {
    mark_heads_by(executor, columns, heads,
                  [](const key_column& column, std::size_t first, std::size_t count,
                     std::uint64_t* out) { column.load(first, count, out); });
}

template <class Index>
void mark_heads(executor& executor, std::span<const key_column> columns,
                std::span<const Index> index, std::span<std::uint8_t> heads) {
    mark_heads_by(executor, columns, heads,
                  [index](const key_column& column, std::size_t first, std::size_t count,
                          std::uint64_t* out) { column.load_at(&index[first], count, out); });
}
template void mark_heads(executor&, std::span<const key_column>, std::span<const std::uint32_t>,
                         std::span<std::uint8_t>);
template void mark_heads(executor&, std::span<const key_column>, std::span<const std::int64_t>,
                         std::span<std::uint8_t>);

int compare_rows(const sort_key& left, std::size_t a, const sort_key& right, std::size_t b) {
    if (left.string_bytes != 0) {
        const auto* x = static_cast<const std::byte*>(left.data) + a * left.string_bytes;
        const auto* y = static_cast<const std::byte*>(right.data) + b * right.string_bytes;
        const int order = std::memcmp(x, y, left.string_bytes);
        return left.order.descending ? -order : order;
    }
    return with_order(left, [&](const auto* keys, auto order) {
        const auto x = order(keys[a]);
        const auto y = order(static_cast<decltype(keys)>(right.data)[b]);
        return static_cast<int>(x > y) - static_cast<int>(x < y);
    });
}

}  // namespace lookback::cpu
