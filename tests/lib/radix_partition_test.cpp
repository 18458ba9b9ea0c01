// The chunked MSD partition against std::stable_sort by bucket.
#include "cpu/radix_partition.hpp"

#include "support/counting_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::cpu {
namespace {

struct heap_memory final : memory_resource {
    void* allocate(std::size_t bytes) override {
        return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    }
    void deallocate(void* block, std::size_t /*bytes*/) noexcept override { std::free(block); }
};

template <int Words>
struct row {
    std::uint32_t key;
    std::uint32_t position[Words - 1];
};
template <>
struct row<1> {
    std::uint32_t key;
};

template <int Words>
struct row_source {
    const std::uint32_t* keys;
    std::size_t buckets;

    void load(std::size_t first, std::size_t count, row<Words>* items, std::uint16_t* bucket) {
        for (std::size_t i = 0; i < count; ++i) {
            items[i].key = keys[first + i];
            if constexpr (Words > 1) {
                for (auto& word : items[i].position) word = static_cast<std::uint32_t>(first + i);
            }
            bucket[i] = static_cast<std::uint16_t>(items[i].key % buckets);
        }
    }
};

template <int Words>
void check(std::size_t n, int threads, std::size_t buckets, bool one_bucket) {
    std::mt19937 random(static_cast<unsigned>(n));
    std::vector<std::uint32_t> keys(n);
    for (auto& key : keys) key = one_bucket ? 3 : static_cast<std::uint32_t>(random());
    heap_memory memory;
    executor executor(threads);
    bucket_blocks<row<Words>> blocks(memory, n, threads, buckets);
    std::vector<row_source<Words>> sources(static_cast<std::size_t>(threads),
                                           {keys.data(), buckets});
    blocks.fill(executor, std::span(sources));

    std::vector<std::uint32_t> expected(n);
    for (std::size_t i = 0; i < n; ++i) expected[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
        return keys[a] % buckets < keys[b] % buckets;
    });
    std::size_t at = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
        const std::size_t begin = at;
        blocks.for_each_chunk(b, [&](std::span<const row<Words>> chunk) {
            for (const auto& item : chunk) {
                ASSERT_LT(at, n);
                ASSERT_EQ(item.key, keys[expected[at]]);
                if constexpr (Words > 1) {
                    for (const auto word : item.position) ASSERT_EQ(word, expected[at]);
                }
                ++at;
            }
        });
        ASSERT_EQ(at - begin, blocks.size(b));
    }
    ASSERT_EQ(at, n);
}

template <class Words>
class RadixPartition : public testing::Test {};
using item_words = testing::Types<std::integral_constant<int, 1>, std::integral_constant<int, 2>,
                                  std::integral_constant<int, 3>, std::integral_constant<int, 4>>;
TYPED_TEST_SUITE(RadixPartition, item_words);

TYPED_TEST(RadixPartition, KeepsInputOrderInEveryBucket) {
    for (const std::size_t n : {0, 1, 127, 128, 129, 1000, 4096, 100003}) {
        for (const int threads : {1, 2, 3, 8}) {
            for (const std::size_t buckets : {1, 2, 37, 512}) {
                check<TypeParam::value>(n, threads, buckets, false);
            }
        }
    }
}

TYPED_TEST(RadixPartition, HoldsEverythingInOneBucket) {
    for (const int threads : {1, 2, 5}) check<TypeParam::value>(100003, threads, 256, true);
}

// What is discarded is whole buckets, and only when all that lies with them is.
TEST(RadixPartitionDiscarded, BucketsOutliveTheirNeighbours) {
    constexpr std::size_t n = std::size_t{1} << 25;
    constexpr std::size_t buckets = 37;
    std::vector<std::uint32_t> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(i) * 2654435761U;
    test::counting_memory memory;
    executor executor(1);
    bucket_blocks<row<1>> blocks(memory, n, 1, buckets, true);
    std::vector<row_source<1>> sources(1, {keys.data(), buckets});
    blocks.fill(executor, std::span(sources));
    std::size_t seen = 0;
    for (std::size_t turn = 0; turn < buckets; ++turn) {
        const std::size_t b = turn * 10 % buckets;
        std::size_t strangers = 0;
        std::size_t count = 0;
        blocks.for_each_chunk(b, [&](std::span<const row<1>> chunk) {
            for (const auto& item : chunk) strangers += item.key % buckets != b ? 1 : 0;
            count += chunk.size();
        });
        ASSERT_EQ(strangers, 0U) << "bucket " << b;
        ASSERT_EQ(count, blocks.size(b));
        seen += count;
        blocks.discard(b);
    }
    EXPECT_EQ(seen, n);
    EXPECT_GE(memory.discarded(), n * sizeof(std::uint32_t));
    EXPECT_LE(memory.discarded(), memory.peak());
}

// Keeps the odd keys only.
struct odd_source {
    const std::uint32_t* keys;

    std::size_t load(std::size_t first, std::size_t count, std::uint32_t* items,
                     std::uint16_t* bucket) {
        std::size_t left = 0;
        for (std::size_t i = first; i < first + count; ++i) {
            if (keys[i] % 2 == 0) continue;
            items[left] = keys[i];
            bucket[left++] = static_cast<std::uint16_t>(keys[i] % 7);
        }
        return left;
    }
};

TEST(RadixPartitionDropped, ASourceMayKeepSomeItems) {
    for (const std::size_t n : {1, 128, 5000, 100003}) {
        std::mt19937 random(static_cast<unsigned>(n));
        std::vector<std::uint32_t> keys(n);
        for (auto& key : keys) key = static_cast<std::uint32_t>(random());
        heap_memory memory;
        executor executor(3);
        bucket_blocks<std::uint32_t> blocks(memory, n, 3, 7);
        std::vector<odd_source> sources(3, {keys.data()});
        blocks.fill(executor, std::span(sources));
        for (std::uint32_t b = 0; b < 7; ++b) {
            std::vector<std::uint32_t> expected;
            for (const std::uint32_t key : keys) {
                if (key % 2 == 1 && key % 7 == b) expected.push_back(key);
            }
            std::vector<std::uint32_t> found;
            blocks.for_each_chunk(b, [&](std::span<const std::uint32_t> chunk) {
                found.insert(found.end(), chunk.begin(), chunk.end());
            });
            ASSERT_EQ(found, expected) << n << ", bucket " << b;
            ASSERT_EQ(blocks.size(b), expected.size());
        }
    }
}

}  // namespace
}  // namespace lookback::cpu
