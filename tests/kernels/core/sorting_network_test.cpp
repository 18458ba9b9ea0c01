// The sorting network: what sorts every sequence of zeros and ones sorts everything.
#include <lookback/kernels/core/sorting_network.hpp>

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace lookback::core {
namespace {

TEST(SortingNetwork, EverySequenceOfZerosAndOnes) {
    int unsorted = 0;
    for (std::uint32_t bits = 0; bits < 1U << network_items; ++bits) {
        std::uint32_t values[network_items];
        for (int i = 0; i < network_items; ++i) values[i] = bits >> i & 1;
        sort_16(values);
        unsorted += static_cast<int>(!std::is_sorted(std::begin(values), std::end(values)));
    }
    EXPECT_EQ(unsorted, 0);
}

TEST(SortingNetwork, WideValues) {
    std::uint64_t values[network_items];
    for (std::uint64_t i = 0; i < network_items; ++i) values[i] = (i * 7 + 3) * 0x9e3779b97f4a7c15U;
    std::uint64_t expected[network_items];
    std::copy(std::begin(values), std::end(values), std::begin(expected));
    std::sort(std::begin(expected), std::end(expected));
    sort_16(values);
    EXPECT_TRUE(std::equal(std::begin(values), std::end(values), std::begin(expected)));
}

}  // namespace
}  // namespace lookback::core
