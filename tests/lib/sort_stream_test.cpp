// Keys sorted between a reader and a writer, against std::stable_sort: every type and order, blocks
// and threads, input that must be refused, samples that mislead, and the calls that are promised.
#include "support/generators.hpp"
#include "support/reference.hpp"
#include "support/simd_targets.hpp"
#include "support/stream_test.hpp"

#include <lookback/error.hpp>
#include <lookback/sort_stream.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lookback {
namespace {

using test::distribution;

using test::stream_case;
using test::stream_test;

template <class Key>
class SortStream : public testing::Test {};
using wide_types =
    testing::Types<std::int32_t, std::uint32_t, float, std::int64_t, std::uint64_t, double>;
TYPED_TEST_SUITE(SortStream, wide_types);

constexpr std::size_t some = 200'001;

TYPED_TEST(SortStream, EqualsTheStableSort) {
    const sort_order orders[] = {{false, false}, {true, false}, {false, true}, {true, true}};
    for (const distribution shape :
         {distribution::uniform, distribution::zipf, distribution::skewed_exponents,
          distribution::constant_digit, distribution::specials}) {
        int turn = 0;
        for (const sort_order& order : orders) {
            // Blocks that divide nothing, threads that outnumber the cores.
            const stream_case how{turn % 2 == 0 ? 3 : 1, turn < 2 ? 1U : 7777U, order};
            stream_test<TypeParam> run(test::generate<TypeParam>(shape, some, 7), how);
            const std::string what =
                std::string(test::name_of(shape)) + ", order " + std::to_string(turn++);
            const bool done = run.sort();
            if (done) {
                run.check(what);
            } else {
                EXPECT_EQ(run.written(), 0U) << what;
                EXPECT_NE(shape, distribution::uniform) << what;
            }
        }
    }
}

// Zeros of both signs and NaNs among numbers of one sign, of both, and none but them.
TYPED_TEST(SortStream, SpecialsStandAmongTheNumbers) {
    if constexpr (std::is_floating_point_v<TypeParam>) {
        test::random_bits random(3);
        for (const double from : {-1.0, 0.0, -2.0}) {
            for (const bool descending : {false, true}) {
                std::vector<TypeParam> keys(some);
                for (auto& key : keys) {
                    const auto kind = random() % 8;
                    key = static_cast<TypeParam>(from + 2 * random.fraction());
                    if (kind == 0) key = TypeParam{0};
                    if (kind == 1) key = -TypeParam{0};
                    if (kind == 2) key = test::special<TypeParam>(random());
                }
                stream_test<TypeParam> run(keys, {3, 5000, {descending, false}});
                ASSERT_TRUE(run.sort());
                run.check("from " + std::to_string(from));
            }
        }
    }
}

TYPED_TEST(SortStream, EveryInstructionSetGivesTheSame) {
    const auto keys = test::generate<TypeParam>(distribution::constant_digit, some, 11);
    test::for_each_simd_target([&](const char* target) {
        stream_test<TypeParam> run(keys, {2, 1000, {true, false}});
        ASSERT_TRUE(run.sort()) << target;
        run.check(target);
    });
}

TEST(SortStreams, SizesAroundWorkersAndBlocks) {
    for (const std::size_t n : {65536U, 65537U, 65663U, 65664U, 98304U, 131072U, 131199U}) {
        for (const std::size_t block : {1U, 2U, 127U, 128U, 129U, 32768U, 65536U, 200000U}) {
            stream_test<std::uint32_t> run(
                test::generate<std::uint32_t>(distribution::uniform, n, n), {2, block, {}});
            ASSERT_TRUE(run.sort()) << n << ", block " << block;
            run.check("block " + std::to_string(block));
        }
    }
}

TEST(SortStreams, WhatSuitsAnArrayIsLeftAlone) {
    for (const distribution shape : {distribution::sorted, distribution::reversed,
                                     distribution::all_equal, distribution::two_values}) {
        stream_test<std::uint64_t> run(test::generate<std::uint64_t>(shape, some), {});
        EXPECT_FALSE(run.sort()) << test::name_of(shape);
        EXPECT_EQ(run.written(), 0U);
    }
    for (const std::size_t n : {0U, 1U, 1000U, 65535U}) {
        stream_test<double> run(test::generate<double>(distribution::uniform, n), {});
        EXPECT_FALSE(run.sort()) << n;
    }
    stream_test<std::uint16_t> narrow(test::generate<std::uint16_t>(distribution::uniform, some),
                                      {});
    EXPECT_FALSE(narrow.sort());
}

// The sample says uniform; the keys between are crowded into a range that it does not show.
std::vector<std::uint64_t> crowded(std::size_t n, std::size_t crowd) {
    auto keys = test::generate<std::uint64_t>(distribution::uniform, n);
    test::random_bits random(5);
    for (std::size_t i = 0; i < crowd; ++i) {
        keys[i * (n / crowd)] = (std::uint64_t{1} << 60) + random() % 1'000'000;
    }
    return keys;
}

TEST(SortStreams, AMisleadingSampleCostsTimeOrIsRefused) {
    constexpr std::size_t n = std::size_t{1} << 23;
    const auto uniform = test::generate<std::uint64_t>(distribution::uniform, n);
    for (const std::size_t crowd : {n / 5, n / 2}) {
        stream_test<std::uint64_t> run(crowded(n, crowd), {});
        run.stream.peek = [&](std::size_t first, std::size_t count, void* into) {
            std::memcpy(into, uniform.data() + first, count * sizeof(std::uint64_t));
        };
        const bool done = run.sort();
        EXPECT_EQ(done, crowd == n / 5);
        if (done) {
            run.check("crowded");
        } else {
            EXPECT_EQ(run.written(), 0U);
        }
    }
}

// From 64 MiB a thread on, buckets are given back while others are still to be written.
TEST(SortStreams, BucketsAreDiscardedOnTheWay) {
    constexpr std::uint32_t n = std::uint32_t{1} << 25;
    std::vector<std::uint32_t> sorted(n, 1);
    test::counting_memory memory;
    const context cpu({.backend = backend::cpu, .threads = 1, .memory = &memory});
    key_stream stream{data_type::u32, {}, n};
    // An odd factor makes a permutation of the multiples of 128.
    stream.read = [](std::size_t first, std::size_t count, void* into) {
        auto* const keys = static_cast<std::uint32_t*>(into);
        for (std::size_t i = 0; i < count; ++i) {
            keys[i] = static_cast<std::uint32_t>(first + i) * 2654435761U << 7;
        }
    };
    stream.peek = stream.read;
    std::size_t discarded_halfway = 0;
    stream.write = [&](std::size_t first, std::size_t count, const void* keys) {
        std::memcpy(sorted.data() + first, keys, count * sizeof(std::uint32_t));
        if (first < n / 2) discarded_halfway = memory.discarded();
    };
    ASSERT_TRUE(sort_stream(cpu, stream));
    std::uint32_t wrong = 0;  // one comparison a key would take a sanitizer long
    for (std::uint32_t i = 0; i < n; ++i) wrong += sorted[i] != i << 7 ? 1 : 0;
    EXPECT_EQ(wrong, 0U);
    EXPECT_GE(discarded_halfway, n);       // a quarter of the bytes
    EXPECT_GE(memory.discarded(), 3 * n);  // not the huge pages that were never filled
    EXPECT_LE(memory.peak(), sort_stream_memory(cpu, n, sizeof(std::uint32_t), 1));
}

TEST(SortStreams, WhatAFunctionThrowsIsThrownOn) {
    for (int which = 0; which < 3; ++which) {
        stream_test<std::uint32_t> run(test::generate<std::uint32_t>(distribution::uniform, some),
                                       {});
        const auto fail = [](auto...) { throw std::runtime_error("no more"); };
        if (which == 0) run.stream.peek = fail;
        if (which == 1) run.stream.read = fail;
        if (which == 2) run.stream.write = fail;
        EXPECT_THROW(run.sort(), std::runtime_error) << which;
    }
}

TEST(SortStreams, WhatIsMissingIsNamed) {
    const context context({.backend = backend::cpu});
    stream_test<std::uint32_t> run({}, {});
    run.stream.write = nullptr;
    EXPECT_THROW(sort_stream(context, run.stream), error);
    stream_test<std::uint32_t> blocks({}, {});
    blocks.stream.block = 0;
    EXPECT_THROW(sort_stream(context, blocks.stream), error);
}

}  // namespace
}  // namespace lookback
