#include "cpu/gather.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace lookback::cpu {
namespace {

// Small enough to balance, large enough that a task costs nothing beside its cache misses.
constexpr std::size_t tile_items = std::size_t{1} << 14;
// How far ahead rows are fetched: enough misses in flight to hide one.
constexpr std::size_t prefetch_items = 24;
constexpr std::size_t line_bytes = 64;

std::size_t tiles_of(std::size_t items) {
    return items / tile_items + static_cast<std::size_t>(items % tile_items != 0);
}

// Bytes is a std::integral_constant for the common widths, so that the copy is a move or two.
template <class Index, class Bytes>
void gather_tile(const std::byte* in, Bytes bytes, const Index* index, std::size_t count,
                 std::size_t ahead, std::byte* out) {
    for (std::size_t i = 0; i < count; ++i) {
        if (i + prefetch_items < ahead) {
            const std::byte* row = in + static_cast<std::size_t>(index[i + prefetch_items]) * bytes;
            __builtin_prefetch(row);
            if (bytes > line_bytes) __builtin_prefetch(row + bytes - 1);
        }
        std::memcpy(out + i * bytes, in + static_cast<std::size_t>(index[i]) * bytes, bytes);
    }
}

template <class Body>
void with_bytes(std::size_t bytes, const Body& body) {
    switch (bytes) {
        case 1:
            return body(std::integral_constant<std::size_t, 1>{});
        case 2:
            return body(std::integral_constant<std::size_t, 2>{});
        case 4:
            return body(std::integral_constant<std::size_t, 4>{});
        case 8:
            return body(std::integral_constant<std::size_t, 8>{});
        case 16:
            return body(std::integral_constant<std::size_t, 16>{});
        default:
            return body(bytes);
    }
}

}  // namespace

template <class Index>
std::size_t first_outside(executor& executor, std::span<const Index> index, std::size_t rows) {
    std::atomic<std::size_t> found{index.size()};
    executor.for_each(tiles_of(index.size()), [&](std::size_t tile) {
        const std::size_t begin = tile * tile_items;
        const std::size_t end = std::min(begin + tile_items, index.size());
        bool outside = false;
        for (std::size_t i = begin; i < end; ++i) {
            outside |= static_cast<std::uint64_t>(index[i]) >= rows;  // negative ones wrap
        }
        if (!outside) return;
        std::size_t at = begin;
        while (static_cast<std::uint64_t>(index[at]) < rows) ++at;
        std::size_t least = found.load(std::memory_order_relaxed);
        while (at < least && !found.compare_exchange_weak(least, at, std::memory_order_relaxed)) {
        }
    });
    return found.load(std::memory_order_relaxed);
}

template <class Index>
void gather(executor& executor, const void* in, std::size_t item_bytes,
            std::span<const Index> index, void* out) {
    executor.for_each(tiles_of(index.size()), [&](std::size_t tile) {
        const std::size_t begin = tile * tile_items;
        const std::size_t count = std::min(tile_items, index.size() - begin);
        with_bytes(item_bytes, [&](auto bytes) {
            gather_tile(static_cast<const std::byte*>(in), bytes, &index[begin], count,
                        index.size() - begin, static_cast<std::byte*>(out) + begin * bytes);
        });
    });
}

template std::size_t first_outside(executor&, std::span<const std::uint32_t>, std::size_t);
template std::size_t first_outside(executor&, std::span<const std::int64_t>, std::size_t);
template void gather(executor&, const void*, std::size_t, std::span<const std::uint32_t>, void*);
template void gather(executor&, const void*, std::size_t, std::span<const std::int64_t>, void*);

}  // namespace lookback::cpu
