// Segmented scan and reduction on the CPU against a plain loop: segments of every kind, every type,
// operator, instruction set and thread count; what is refused.
#include "cpu/segmented_scan.hpp"

#include "memory/host_pool.hpp"
#include "support/item_types.hpp"
#include "support/red_zone.hpp"
#include "support/reference.hpp"
#include "support/reproducible_reference.hpp"
#include "support/scan_reference.hpp"
#include "support/segment_kinds.hpp"
#include "support/simd_targets.hpp"
#include "support/sizes.hpp"

#include <lookback/error.hpp>
#include <lookback/segmented_scan.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lookback {
namespace {

using test::item_types;
using test::kinds_of_offsets;
using test::offset_list;

/// All kinds, or under a sanitizer two of them, which take turns with the size.
std::vector<offset_list> some_kinds_of_offsets(std::size_t size) {
    std::vector<offset_list> kinds = kinds_of_offsets(size);
    if (!test::sanitized) return kinds;
    return {kinds[size % kinds.size()], kinds[(size / 8 + 3) % kinds.size()]};
}

/// The results of each segment by itself, and what each gives as a whole.
template <class T>
struct plain_result {
    std::vector<T> items;
    std::vector<T> totals;
};

template <class T>
plain_result<T> plain_loop(std::span<const T> in, const offset_list& offsets, bool exclusive,
                           const scan_options<T>& options) {
    plain_result<T> result;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        const auto segment = in.subspan(static_cast<std::size_t>(offsets[s]),
                                        static_cast<std::size_t>(offsets[s + 1] - offsets[s]));
        const std::vector<T> scanned = test::reference_scan<T>(segment, exclusive, options);
        result.items.insert(result.items.end(), scanned.begin(), scanned.end());
        const std::vector<T> whole = test::reference_scan<T>(segment, false, options);
        const T empty = options.init.value_or(test::start_of_exclusive<T>(options.op));
        result.totals.push_back(whole.empty() ? empty : whole.back());
    }
    return result;
}

constexpr cpu::scan_limits tiny{1024, 0, 0};

template <class T>
void expect_segments(cpu::executor& threads, scan_operator op, std::size_t size,
                     const offset_list& offsets, std::size_t turn, const cpu::scan_limits& limits) {
    host_pool memory;
    const auto items = test::scan_items<T>(op, size, size + turn);
    scan_options<T> options{.op = op};
    const bool exclusive = turn % 2 == 0;
    if (turn % 3 == 0) options.init = static_cast<T>(3);
    const auto expected = plain_loop<T>(items, offsets, exclusive, options);

    const test::red_zone<T> totals(offsets.size() - 1, turn % 4);
    const T empty = options.init.value_or(test::start_of_exclusive<T>(op));
    cpu::segmented_reduce<T>(threads, memory, items, offsets, totals.span(), empty, options,
                             limits);
    ASSERT_EQ(test::first_difference<T>(totals.span(), expected.totals), expected.totals.size())
        << "reduce, operator " << static_cast<int>(op) << ", " << size << " items, turn " << turn;

    if (exclusive && !options.init) options.init = test::start_of_exclusive<T>(op);
    const test::red_zone<T> in(items, turn % 5);
    const test::red_zone<T> elsewhere(size, turn % 7);
    const std::span<T> out = turn % 4 == 0 ? in.span() : elsewhere.span();
    cpu::segmented_scan<T>(threads, memory, in.span(), offsets, out, exclusive, options, limits);
    ASSERT_EQ(test::first_difference<T>(out, expected.items), size)
        << "operator " << static_cast<int>(op) << ", " << size << " items, turn " << turn;
    ASSERT_TRUE(in.intact() && elsewhere.intact() && totals.intact());
}

template <class T>
class SegmentedScan : public testing::Test {};

TYPED_TEST_SUITE(SegmentedScan, item_types);

TYPED_TEST(SegmentedScan, EveryKindOfSegmentsOnEveryInstructionSet) {
    using T = TypeParam;
    cpu::executor one(1);
    cpu::executor three(3);
    const auto sizes = test::fewer_if_sanitized(test::boundary_sizes(1024 / sizeof(T)), 16);
    test::for_each_simd_target([&](const char* target) {
        SCOPED_TRACE(target);
        std::size_t turn = 0;
        for (const std::size_t size : sizes) {
            for (const offset_list& offsets : some_kinds_of_offsets(size)) {
                for (const scan_operator op : test::all_scan_operators) {
                    if (std::is_floating_point_v<T> && test::is_of_bits(op)) continue;
                    cpu::executor& threads = ++turn % 2 == 0 ? one : three;
                    expect_segments<T>(threads, op, size, offsets, turn / 2,
                                       turn % 5 == 0 ? cpu::scan_limits{} : tiny);
                    if (this->HasFatalFailure()) return;
                }
            }
        }
    });
}

TEST(SegmentedScanTiles, SixtyFourThreadsOnThousandsOfTiles) {
    cpu::executor threads(64);
    const std::size_t size = std::size_t{1} << (test::sanitized ? 17 : 20);
    std::size_t turn = 0;
    for (const offset_list& offsets : some_kinds_of_offsets(size)) {
        expect_segments<std::uint32_t>(threads, scan_operator::plus, size, offsets, ++turn, tiny);
        if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(SegmentedScanTiles, PublicFunctionsWithTheirOwnTiles) {
    const std::size_t size = (std::size_t{5} << 18) + 3;
    const auto items = test::scan_items<std::int64_t>(scan_operator::plus, size, 1);
    const std::span<const std::int64_t> in(items);
    for (const int threads : {1, 2, 64}) {
        const context context({.backend = backend::cpu, .threads = threads});
        for (const offset_list& offsets : some_kinds_of_offsets(size)) {
            const auto inclusive = plain_loop<std::int64_t>(in, offsets, false, {});
            const auto exclusive = plain_loop<std::int64_t>(in, offsets, true, {});
            std::vector<std::int64_t> out(size);
            segmented_inclusive_scan<std::int64_t>(context, in, offsets, out);
            EXPECT_EQ(test::first_difference<std::int64_t>(out, inclusive.items), size);
            segmented_exclusive_scan<std::int64_t>(context, in, offsets, out);
            EXPECT_EQ(test::first_difference<std::int64_t>(out, exclusive.items), size);
            std::vector<std::int64_t> totals(offsets.size() - 1);
            segmented_reduce<std::int64_t>(context, in, offsets, totals);
            EXPECT_EQ(totals, inclusive.totals);
        }
    }
}

template <class T>
struct flagged {
    T value;
    bool head;
};

/// The tree over the whole array, on pairs; init joins last.
template <class T>
std::vector<T> tree_of_segments(std::span<const T> in, const offset_list& offsets, bool exclusive,
                                const scan_options<T>& options) {
    std::vector<flagged<T>> pairs;
    for (const T item : in) pairs.push_back({item, false});
    for (const std::int64_t head : offsets) {
        const auto at = static_cast<std::size_t>(head);
        if (at < in.size()) pairs[at].head = true;
    }
    const auto join = [&](const flagged<T>& a, const flagged<T>& b) {
        return b.head ? b : flagged<T>{test::apply(options.op, a.value, b.value), a.head};
    };
    using reference = test::reproducible_reference<flagged<T>, decltype(join), sizeof(T)>;
    // Before the first item stands what its head cuts off.
    const auto start = exclusive ? std::optional<flagged<T>>({T(0), false}) : std::nullopt;
    const auto scanned = reference(join).scan(pairs, exclusive, start);
    std::vector<T> out;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const T value = scanned[i].value;
        out.push_back(exclusive && pairs[i].head ? *options.init
                      : options.init             ? test::apply(options.op, *options.init, value)
                                                 : value);
    }
    return out;
}

template <class T>
void expect_tree(std::size_t size, scan_operator op) {
    cpu::executor executors[] = {cpu::executor(1), cpu::executor(3), cpu::executor(64)};
    host_pool memory;
    test::random_bits random(size);
    std::vector<T> items(size);
    for (T& item : items) item = static_cast<T>(1 + (random.fraction() - 0.5) / 64);
    for (const offset_list& offsets : some_kinds_of_offsets(size)) {
        const scan_options<T> without{.op = op, .reproducible = true};
        const scan_options<T> with{.op = op, .init = T(0.3), .reproducible = true};
        const auto inclusive = tree_of_segments<T>(items, offsets, false, without);
        const auto exclusive = tree_of_segments<T>(items, offsets, true, with);
        for (cpu::executor& threads : executors) {
            std::vector<T> out(size);
            cpu::segmented_scan<T>(threads, memory, items, offsets, out, false, without, tiny);
            ASSERT_EQ(test::first_difference<T>(out, inclusive), size) << threads.threads();
            std::vector<T> totals(offsets.size() - 1);
            cpu::segmented_reduce<T>(threads, memory, items, offsets, totals, T(7), without, tiny);
            for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
                const bool empty = offsets[s] == offsets[s + 1];
                ASSERT_EQ(totals[s],
                          empty ? T(7) : inclusive[static_cast<std::size_t>(offsets[s + 1] - 1)]);
            }
            out = items;
            cpu::segmented_scan<T>(threads, memory, out, offsets, out, true, with, tiny);
            ASSERT_EQ(test::first_difference<T>(out, exclusive), size) << threads.threads();
        }
    }
}

TEST(SegmentedScanReproducible, TheTreeCutAtTheHeads) {
    constexpr std::size_t tile = core::reproducible_tree<sizeof(float)>::tile_items;
    const std::vector<std::size_t> sizes = {
        1, 5, 129, 5000, tile * 2 + 1, tile * 33 + 3, tile * 70 + 3};
    const std::vector<std::size_t> few = {129, tile * 33 + 3};
    for (const std::size_t size : test::sanitized ? few : sizes) {
        expect_tree<float>(size, scan_operator::plus);
        expect_tree<double>(size, scan_operator::multiplies);
        if (testing::Test::HasFatalFailure()) return;
    }
}

template <class Call>
void expect_refused(const std::string& named, const Call& call) {
    try {
        call(context({.backend = backend::cpu, .threads = 2}));
        ADD_FAILURE() << "accepted; should have named " << named;
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
        EXPECT_NE(std::string(failure.what()).find(named), std::string::npos) << failure.what();
    }
}

TEST(SegmentedScanRefusals, OffsetsThatBreakTheRuleAreNamed) {
    const std::vector<int> in(10, 1);
    std::vector<int> out(10);
    const std::pair<offset_list, std::string> cases[] = {
        {{}, "there are no offsets"},
        {{1, 10}, "offset 0 is 1; it must be 0"},
        {{0, 5, 4, 3, 10}, "offset 2 is 4, less than the one before it, 5"},
        {{0, 5, 9}, "the last offset, 2, is 9; it must be the number of items, 10"},
        {{0, 5, 11}, "the last offset, 2, is 11"},
        {{0, -3, 10}, "offset 1 is -3, less than the one before it, 0"}};
    for (const auto& [offsets, named] : cases) {
        const offset_list& list = offsets;
        expect_refused(
            named, [&](const context& on) { segmented_inclusive_scan<int>(on, in, list, out); });
        expect_refused(
            named, [&](const context& on) { segmented_exclusive_scan<int>(on, in, list, out); });
        expect_refused(named, [&](const context& on) {
            segmented_reduce<int>(on, in, list, std::span<int>(out).first(2));
        });
    }
    // The first of several, however far back it stands.
    offset_list many(300000, 0);
    many[200000] = many[100001] = -1;
    many.back() = 10;
    expect_refused("offset 100001 is -1",
                   [&](const context& on) { segmented_inclusive_scan<int>(on, in, many, out); });
}

TEST(SegmentedScanRefusals, OverlapSizesAndOperators) {
    std::vector<int> items(20);
    const std::span<int> all(items);
    const offset_list offsets = {0, 4, 10};
    expect_refused("in and out overlap", [&](const context& on) {
        segmented_inclusive_scan<int>(on, all.first(10), offsets, all.subspan(5, 10));
    });
    expect_refused("in and out overlap", [&](const context& on) {
        segmented_reduce<int>(on, all.first(10), offsets, all.first(2));
    });
    expect_refused("in has 10 items, but out has 9", [&](const context& on) {
        segmented_exclusive_scan<int>(on, all.first(10), offsets, all.subspan(11, 9));
    });
    expect_refused("out has 3 items, but there are 2 segments", [&](const context& on) {
        segmented_reduce<int>(on, all.first(10), offsets, all.subspan(11, 3));
    });
    std::vector<double> reals(10);
    std::vector<double> sums(2);
    expect_refused("bit_or is not defined", [&](const context& on) {
        segmented_reduce<double>(on, reals, offsets, sums, {.op = scan_operator::bit_or});
    });
    std::vector<std::int64_t> shared = {0, 4, 10};
    expect_refused("offsets and out overlap", [&](const context& on) {
        const std::vector<std::int64_t> in(10);
        segmented_reduce<std::int64_t>(on, in, shared, std::span<std::int64_t>(shared).first(2));
    });
}

}  // namespace
}  // namespace lookback
