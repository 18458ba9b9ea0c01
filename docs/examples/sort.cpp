// Sorts keys, then finds the order of a table's rows by its column without moving the rows.
#include <lookback/context.hpp>
#include <lookback/radix_sort.hpp>

#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

int main() {
    const lookback::context context({.backend = lookback::backend::cpu});

    std::vector<float> keys{2.5F, -1.0F, 40.0F, 0.0F};
    lookback::sort(context, std::span<float>(keys));
    for (const float key : keys) std::printf("%g ", static_cast<double>(key));
    std::printf("\n");  // -1 0 2.5 40

    const std::vector<std::uint32_t> delays{7, 90, 7, 3};
    std::vector<std::int64_t> order(delays.size());
    lookback::argsort(context, std::span<const std::uint32_t>(delays),
                      std::span<std::int64_t>(order), {.order = {.descending = true}});
    for (const std::int64_t row : order) std::printf("%lld ", static_cast<long long>(row));
    std::printf("\n");  // 1 0 2 3: equal delays keep their order
    return order == std::vector<std::int64_t>{1, 0, 2, 3} ? 0 : 1;
}
