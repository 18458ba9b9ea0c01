#include "cpu/radix_argsort.hpp"

#include <algorithm>
#include <numeric>

namespace lookback::cpu {
namespace {

template <class Index>
void stable_order(std::span<const key_column> columns, std::size_t begin, std::span<Index> index) {
    std::iota(index.begin(), index.end(), static_cast<Index>(begin));
    std::stable_sort(index.begin(), index.end(), [&](Index a, Index b) {
        for (const key_column& column : columns) {
            std::uint64_t x = 0;
            std::uint64_t y = 0;
            column.load(static_cast<std::size_t>(a), 1, &x);
            column.load(static_cast<std::size_t>(b), 1, &y);
            if (x != y) return x < y;
        }
        return false;
    });
}

}  // namespace

template <class Index>
void argsort(executor& /*executor*/, memory_resource& /*memory*/,
             std::span<const key_column> columns, std::span<Index> index) {
    stable_order(columns, 0, index);
}

template <class Index>
void argsort_segments(executor& executor, memory_resource& /*memory*/,
                      std::span<const key_column> columns, std::span<const std::int64_t> offsets,
                      std::span<Index> index) {
    if (offsets.size() < 2) return;
    executor.for_each(offsets.size() - 1, [&](std::size_t segment) {
        const auto begin = static_cast<std::size_t>(offsets[segment]);
        const auto end = static_cast<std::size_t>(offsets[segment + 1]);
        stable_order(columns, begin, index.subspan(begin, end - begin));
    });
}

std::size_t argsort_memory(std::size_t n, int /*threads*/) {
    return n * sizeof(std::int64_t);
}

template void argsort(executor&, memory_resource&, std::span<const key_column>,
                      std::span<std::uint32_t>);
template void argsort(executor&, memory_resource&, std::span<const key_column>,
                      std::span<std::int64_t>);
template void argsort_segments(executor&, memory_resource&, std::span<const key_column>,
                               std::span<const std::int64_t>, std::span<std::uint32_t>);
template void argsort_segments(executor&, memory_resource&, std::span<const key_column>,
                               std::span<const std::int64_t>, std::span<std::int64_t>);

}  // namespace lookback::cpu
