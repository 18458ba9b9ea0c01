// Scan on the CPU against std::inclusive_scan and std::exclusive_scan: every type, operator, form,
// instruction set and thread count; small tiles bring every boundary within reach.
#include "cpu/scan.hpp"

#include "memory/host_pool.hpp"
#include "support/item_types.hpp"
#include "support/red_zone.hpp"
#include "support/reference.hpp"
#include "support/scan_reference.hpp"
#include "support/simd_targets.hpp"
#include "support/sizes.hpp"

#include <lookback/buffer.hpp>
#include <lookback/error.hpp>
#include <lookback/kernels/core/tile_word.hpp>
#include <lookback/scan.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lookback {
namespace {

using test::item_types;
using test::reference_scan;
using test::scan_items;

/// Everything that a scan can be asked besides its items.
struct scan_case {
    scan_operator op = scan_operator::plus;
    bool exclusive = false;
    bool with_init = false;
    bool in_place = false;
    std::size_t offset_items = 0;

    std::string text() const {
        return "op " + std::to_string(static_cast<int>(op)) + (exclusive ? " exclusive" : "") +
               (with_init ? " init" : "") + (in_place ? " in place" : "") + " offset " +
               std::to_string(offset_items);
    }
};

template <class T>
void expect_scan(cpu::executor& threads, memory_resource& memory, std::span<const T> items,
                 const scan_case& how, const cpu::scan_limits& limits) {
    scan_options<T> options{.op = how.op};
    if (how.with_init) options.init = static_cast<T>(3);
    const std::vector<T> expected = reference_scan(items, how.exclusive, options);
    if (how.exclusive && !how.with_init) options.init = test::start_of_exclusive<T>(how.op);

    const test::red_zone<T> in(items, how.offset_items);
    const test::red_zone<T> elsewhere(items.size(), how.offset_items / 2);
    const std::span<T> out = how.in_place ? in.span() : elsewhere.span();
    cpu::scan<T>(threads, memory, in.span(), out, how.exclusive, options, limits);
    ASSERT_EQ(test::first_difference<T>(out, expected), items.size())
        << how.text() << ", " << items.size() << " items, " << threads.threads() << " threads";
    ASSERT_TRUE(in.intact() && elsewhere.intact()) << how.text();
    if (!how.in_place) {
        ASSERT_EQ(test::first_difference<T>(in.span(), items), items.size()) << "input changed";
    }
}

// Tiles of 1 KiB, several threads and streaming whatever the size.
constexpr cpu::scan_limits tiny{1024, 0, 0};

template <class T>
class Scan : public testing::Test {};

TYPED_TEST_SUITE(Scan, item_types);

/// Calls body(case) for every operator, form and init; placement and alignment take turns.
template <class T, class Body>
void for_each_case(const Body& body) {
    std::size_t turn = 0;
    for (const scan_operator op : test::all_scan_operators) {
        if (std::is_floating_point_v<T> && test::is_of_bits(op)) continue;
        for (const bool exclusive : {false, true}) {
            for (const bool with_init : {false, true}) {
                ++turn;
                body(scan_case{op, exclusive, with_init, turn % 3 == 0, turn % 5});
            }
        }
    }
}

TYPED_TEST(Scan, EveryOperatorAndFormAtBoundariesOnEveryInstructionSet) {
    using T = TypeParam;
    cpu::executor one(1);
    cpu::executor three(3);
    host_pool memory;
    const auto sizes =
        test::fewer_if_sanitized(test::boundary_sizes(1024 / sizeof(T)), sizeof(T) == 4 ? 4 : 12);
    std::vector<std::string> targets;
    test::for_each_simd_target([&](const char* target) {
        SCOPED_TRACE(target);
        targets.push_back(target);
        for_each_case<T>([&](const scan_case& how) {
            if (this->HasFatalFailure()) return;
            for (const std::size_t size : sizes) {
                const auto items = scan_items<T>(how.op, size, size + 1);
                expect_scan<T>(one, memory, items, how, cpu::scan_limits{});
                expect_scan<T>(three, memory, items, how, tiny);
                if (this->HasFatalFailure()) return;
            }
        });
    });
    // The portable loops, and whatever the machine has beyond them.
    EXPECT_GE(targets.size(), 1U);
#if defined(__x86_64__)
    EXPECT_EQ(targets.back(), "SCALAR");
    EXPECT_EQ(targets.size(), 1U + (__builtin_cpu_supports("avx2") != 0) +
                                  (__builtin_cpu_supports("avx512bw") != 0));
#endif
}

TYPED_TEST(Scan, EverySizeFromOneTileToTwo) {
    using T = TypeParam;
    cpu::executor threads(4);
    host_pool memory;
    std::size_t turn = 0;
    for (const std::size_t size :
         test::fewer_if_sanitized(test::one_tile_to_two(1024 / sizeof(T)), 16)) {
        ++turn;
        const scan_case how{turn % 2 == 0 ? scan_operator::plus : scan_operator::maximum,
                            turn % 3 == 0, turn % 5 == 0, turn % 4 == 0, turn % 7};
        expect_scan<T>(threads, memory, scan_items<T>(how.op, size, size), how, tiny);
        if (this->HasFatalFailure()) return;
    }
}

TYPED_TEST(Scan, PublicFunctionsWithTheirOwnTiles) {
    using T = TypeParam;
    // Three tiles of 256 KiB more than what one thread does alone.
    const std::size_t size = ((std::size_t{7} << 18) + 12) / sizeof(T) + 1;
    const auto items = scan_items<T>(scan_operator::plus, size, 5);
    for (const int threads : {1, 2, 64}) {
        const context context({.backend = backend::cpu, .threads = threads});
        std::vector<T> out(size);
        inclusive_scan<T>(context, items, out);
        EXPECT_EQ(test::first_difference<T>(out, reference_scan<T>(items, false, {})), size);
        exclusive_scan<T>(context, items, out, {.init = T(5)});
        EXPECT_EQ(test::first_difference<T>(out, reference_scan<T>(items, true, {.init = T(5)})),
                  size);
    }
}

TEST(ScanTiles, SixtyFourThreadsOnThousandsOfTiles) {
    cpu::executor threads(64);
    host_pool memory;
    const std::size_t size = (std::size_t{1} << 20) + 77;
    const auto items = scan_items<std::uint32_t>(scan_operator::plus, size, 9);
    const scan_case forms[] = {{scan_operator::plus, false, false, false, 0},
                               {scan_operator::multiplies, true, true, true, 1},
                               {scan_operator::minimum, true, false, false, 3}};
    for (const scan_case& how : forms) {
        expect_scan<std::uint32_t>(threads, memory, items, how, tiny);
        if (!test::sanitized) {
            expect_scan<std::uint32_t>(threads, memory, items, how, {256, 0, 0});
        }
    }
}

/// Memory whose every word looks like a published prefix of the first use.
class poisoned_memory final : public memory_resource {
public:
    void* allocate(std::size_t bytes) override {
        void* block = pool_.allocate(bytes);
        const std::uint64_t word =
            core::tagged_codec<std::uint32_t>::encode(core::tile_state::prefix, 1, 12345, 0);
        for (std::size_t i = 0; i < bytes / 8; ++i) static_cast<std::uint64_t*>(block)[i] = word;
        ++blocks;
        return block;
    }
    void deallocate(void* block, std::size_t bytes) noexcept override {
        pool_.deallocate(block, bytes);
    }
    int blocks = 0;

private:
    host_pool pool_;
};

TEST(ScanTiles, StaleAndPoisonedWorkspacesDoNotShow) {
    cpu::executor threads(5);
    poisoned_memory memory;
    for (const scan_operator op : {scan_operator::plus, scan_operator::maximum}) {
        const scan_case how{op, false, false, false, 0};
        expect_scan<std::uint32_t>(threads, memory, scan_items<std::uint32_t>(op, 50000, 2), how,
                                   tiny);
        expect_scan<double>(threads, memory, scan_items<double>(op, 50000, 2), how, tiny);
    }
    EXPECT_EQ(memory.blocks, 4);
}

TEST(ScanFloats, ZerosKeepTheirSignAndInitComesFirst) {
    const context context({.backend = backend::cpu, .threads = 1});
    const std::vector<float> zeros(100, -0.0F);
    std::vector<float> out(100);
    for (const bool reproducible : {false, true}) {
        inclusive_scan<float>(context, zeros, out, {.reproducible = reproducible});
        EXPECT_EQ(test::first_difference<float>(out, zeros), 100U);
        exclusive_scan<float>(context, zeros, out, {.reproducible = reproducible});
        EXPECT_EQ(test::first_difference<float>(out, std::vector<float>(100, 0.0F)), 100U);
    }
}

TEST(ScanFloats, FreeOrderStaysWithinRounding) {
    const std::size_t size = std::size_t{1} << 20;
    test::random_bits random(3);
    std::vector<float> items(size);
    for (float& item : items) item = static_cast<float>(random.fraction());
    std::vector<double> exact(size);
    std::inclusive_scan(items.begin(), items.end(), exact.begin(), std::plus<>(), 0.0);
    for (const int threads : {1, 2, 7}) {
        const context context({.backend = backend::cpu, .threads = threads});
        std::vector<float> out(size);
        inclusive_scan<float>(context, items, out);
        for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(out[i] / exact[i], 1, 1e-3) << i;
    }
}

/// What is refused, and what the message must name.
template <class T>
void expect_refused(std::span<const T> in, std::span<T> out, const scan_options<T>& options,
                    const std::string& named) {
    const context context({.backend = backend::cpu});
    for (const bool exclusive : {false, true}) {
        try {
            if (exclusive) {
                exclusive_scan<T>(context, in, out, options);
            } else {
                inclusive_scan<T>(context, in, out, options);
            }
            ADD_FAILURE() << "accepted; should have named " << named;
        } catch (const error& failure) {
            const std::string text = failure.what();
            EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
            EXPECT_EQ(text.find(exclusive ? "exclusive_scan: " : "inclusive_scan: "), 0U) << text;
            EXPECT_NE(text.find(named), std::string::npos) << text;
        }
    }
}

TEST(ScanRefusals, EachNamesWhatIsWrong) {
    std::vector<int> items(100);
    const std::span<int> all(items);
    expect_refused<int>(all.first(10), all.subspan(20, 9), {}, "in has 10 items, but out has 9");
    expect_refused<int>(all.first(10), all.subspan(9, 10), {}, "overlap");
    expect_refused<int>(all.subspan(9, 10), all.first(10), {}, "overlap");
    expect_refused<int>(all.first(10), all.subspan(20, 10), {.op = static_cast<scan_operator>(7)},
                        "no operator 7");
    std::vector<float> reals(10);
    for (const scan_operator op : test::all_scan_operators) {
        if (!test::is_of_bits(op)) continue;
        expect_refused<float>(reals, reals, {.op = op}, "not defined for floating-point");
    }
}

// 2^31 + 1 items of one byte: item i is i * 7 + 1 modulo 256, whose sum has a closed form.
TEST(ScanLarge, TwoToThe31PlusOneBytes) {
    const char* wanted = std::getenv("LOOKBACK_LARGE_TESTS");
    if (wanted == nullptr || std::string(wanted) != "1") {
        GTEST_SKIP() << "needs 2 GiB; set LOOKBACK_LARGE_TESTS=1";
    }
    const std::size_t size = (std::size_t{1} << 31) + 1;
    const context context({.backend = backend::cpu, .threads = 2});
    const buffer<std::uint8_t> items(context, size);
    const auto item = [](std::uint64_t i) { return static_cast<std::uint8_t>(i * 7 + 1); };
    // 7 * (0 + ... + i) + i + 1
    const auto sum = [](std::uint64_t i) {
        return static_cast<std::uint8_t>(7 * (i * (i + 1) / 2) + i + 1);
    };
    for (const bool exclusive : {false, true}) {
        for (std::size_t i = 0; i < size; ++i) items[i] = item(i);
        const std::span<const std::uint8_t> in = items.span();
        if (exclusive) {
            exclusive_scan<std::uint8_t>(context, in, items.span());
        } else {
            inclusive_scan<std::uint8_t>(context, in, items.span());
        }
        std::size_t wrong = 0;
        for (std::size_t i = exclusive ? 1 : 0; i < size; ++i) {
            wrong += items[i] != sum(exclusive ? i - 1 : i);
        }
        EXPECT_EQ(wrong, 0U);
        EXPECT_EQ(items[0], exclusive ? 0 : 1);
    }
}

}  // namespace
}  // namespace lookback
