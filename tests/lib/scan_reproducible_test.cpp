// Reproducible scans: the bits of the tree written out serially, from every thread count, placement
// and instruction set.
#include "cpu/scan.hpp"
#include "memory/host_pool.hpp"
#include "support/red_zone.hpp"
#include "support/reference.hpp"
#include "support/reproducible_reference.hpp"
#include "support/scan_reference.hpp"
#include "support/simd_targets.hpp"
#include "support/sizes.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace lookback {
namespace {

template <class T>
class ReproducibleScan : public testing::Test {};
using real_types = testing::Types<float, double>;
TYPED_TEST_SUITE(ReproducibleScan, real_types);

/// Reals over many exponents and both signs, so that every other order of combination shows; for
/// products near 1.
template <class T>
std::vector<T> rounding_items(scan_operator op, std::size_t n) {
    test::random_bits random(n + 1);
    std::vector<T> items(n);
    for (T& item : items) {
        const double fraction = random.fraction() - 0.5;
        item = op == scan_operator::plus
                   ? static_cast<T>(std::ldexp(fraction, static_cast<int>(random() % 24)))
                   : static_cast<T>(1 + fraction / 64);
    }
    return items;
}

template <class T>
std::vector<T> tree_scan(std::span<const T> items, bool exclusive, const scan_options<T>& options) {
    const auto op = [&](T a, T b) { return test::apply(options.op, a, b); };
    return test::reproducible_reference<T, decltype(op)>(op).scan(items, exclusive, options.init);
}

template <class T>
std::vector<scan_options<T>> option_list() {
    return {{.op = scan_operator::plus, .init = std::nullopt, .reproducible = true},
            {.op = scan_operator::plus, .init = T(0.1), .reproducible = true},
            {.op = scan_operator::multiplies, .init = T(3), .reproducible = true}};
}

/// The same bits as the tree, from 1, 2, 3 and 64 threads, in place or not, aligned or not.
template <class T>
void expect_tree(std::size_t size, bool exclusive, const scan_options<T>& options) {
    static cpu::executor executors[] = {cpu::executor(1), cpu::executor(2), cpu::executor(3),
                                        cpu::executor(64)};
    const auto items = rounding_items<T>(options.op, size);
    const auto expected = tree_scan<T>(items, exclusive, options);
    host_pool memory;
    std::size_t turn = size;
    for (cpu::executor& threads : executors) {
        ++turn;
        const test::red_zone<T> in(items, turn % 2 * (turn % 16));
        const test::red_zone<T> elsewhere(size, turn % 3 * 3);
        const std::span<T> out = turn % 4 == 0 ? in.span() : elsewhere.span();
        const cpu::scan_limits limits{1024, 0, turn % 3 == 0 ? 0 : std::size_t{1} << 40};
        cpu::scan<T>(threads, memory, in.span(), out, exclusive, options, limits);
        ASSERT_EQ(test::first_difference<T>(out, expected), size)
            << size << " items, " << threads.threads() << " threads";
        ASSERT_TRUE(in.intact() && elsewhere.intact());
    }
}

TYPED_TEST(ReproducibleScan, TheTreeAtEveryBoundaryOnEveryInstructionSet) {
    using T = TypeParam;
    using tree = core::reproducible_tree<sizeof(T)>;
    std::vector<std::size_t> sizes = test::boundary_sizes(tree::tile_items);
    for (const std::size_t unit : {tree::lane_items, tree::row_items, tree::warp_items}) {
        for (const std::size_t size : {unit - 1, unit, unit + 1, 3 * unit}) sizes.push_back(size);
    }
    test::sort_unique(sizes);
    test::for_each_simd_target([&](const char* target) {
        SCOPED_TRACE(target);
        for (const std::size_t size : test::fewer_if_sanitized(sizes, 6)) {
            const auto options = option_list<T>()[size % 3];
            expect_tree<T>(size, options.init && size % 2 == 0, options);
            if (this->HasFatalFailure()) return;
        }
    });
}

TYPED_TEST(ReproducibleScan, ChunksAndGroupsOfTiles) {
    using T = TypeParam;
    using tree = core::reproducible_tree<sizeof(T)>;
    const std::size_t chunk = std::size_t{tree::tile_items} * 32;
    const std::size_t group = std::size_t{tree::tile_items} * tree::group_tiles;
    const std::vector<std::size_t> sizes = {
        chunk - 1, chunk, chunk + 1, 2 * chunk + tree::tile_items, group, 2 * group + chunk + 7};
    for (const std::size_t size : test::fewer_if_sanitized(sizes, 3)) {
        const auto options = option_list<T>()[size % 3];
        expect_tree<T>(size, options.init.has_value(), options);
        if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST(ReproducibleScan, OtherOrdersWouldShow) {
    using T = TypeParam;
    const auto items = rounding_items<T>(scan_operator::plus, 20000);
    const auto serial = test::reference_scan<T>(items, false, {});
    EXPECT_LT(test::first_difference<T>(serial, tree_scan<T>(items, false, {})), 1000U);
}

}  // namespace
}  // namespace lookback
