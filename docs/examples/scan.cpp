// Turns the lengths of ragged rows into the offsets at which the rows start.
#include <lookback/context.hpp>
#include <lookback/scan.hpp>

#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

int main() {
    const lookback::context context({.backend = lookback::backend::cpu});

    const std::vector<std::int64_t> lengths{3, 0, 2, 5};
    std::vector<std::int64_t> offsets(lengths.size());
    lookback::exclusive_scan(context, std::span<const std::int64_t>(lengths),
                             std::span<std::int64_t>(offsets));

    for (const std::int64_t offset : offsets) std::printf("%lld ", static_cast<long long>(offset));
    std::printf("\n");  // 0 3 3 5
    return offsets == std::vector<std::int64_t>{0, 3, 3, 5} ? 0 : 1;
}
