#include "cpu/radix_pairs.hpp"

#include "cpu/gather.hpp"
#include "cpu/radix_argsort.hpp"

#include <lookback/buffer.hpp>

#include <cstring>

namespace lookback::cpu {

void sort_pairs(executor& executor, memory_resource& memory, void* keys, data_type type,
                const sort_options& options, void* values, std::size_t value_bytes, std::size_t n) {
    const buffer<std::int64_t> index(memory, n);
    const key_column column({keys, type, 0, options.order}, options.begin_bit, options.end_bit);
    argsort(executor, memory, {&column, 1}, index.span());
    const std::span<const std::int64_t> order = index.span();
    const auto permute = [&](void* items, std::size_t bytes) {
        const buffer<std::byte> sorted(memory, n * bytes);
        gather(executor, items, bytes, order, sorted.data());
        if (n != 0) std::memcpy(items, sorted.data(), n * bytes);
    };
    permute(keys, size_of(type));
    permute(values, value_bytes);
}

std::size_t sort_pairs_memory(std::size_t n, std::size_t key_bytes, std::size_t value_bytes,
                              int threads) {
    return n * (8 + std::max(key_bytes, value_bytes)) + argsort_memory(n, threads);
}

}  // namespace lookback::cpu
