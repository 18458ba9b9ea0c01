// The sort API's promises: what it refuses and how it says so, how much memory it takes, the same
// bytes from every number of threads.
#include "support/counting_memory.hpp"
#include "support/generators.hpp"
#include "support/reference.hpp"
#include "support/sizes.hpp"

#include <lookback/buffer.hpp>
#include <lookback/error.hpp>
#include <lookback/radix_sort.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::test {
namespace {

template <class Call>
void expect_refused(const Call& call, const std::string& part) {
    try {
        call();
        FAIL() << "accepted; expected a refusal with: " << part;
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
        EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
    }
}

class RadixSortRefuses : public testing::Test {
protected:
    context context_{{.backend = backend::cpu, .threads = 2}};
    std::vector<std::uint32_t> keys_ = std::vector<std::uint32_t>(8);
    std::vector<std::uint32_t> values_ = std::vector<std::uint32_t>(16);
    std::vector<std::int64_t> index_ = std::vector<std::int64_t>(8);

    void pairs(void* values, std::size_t value_bytes, const sort_options& options = {}) {
        sort_pairs(context_, std::span<std::uint32_t>(keys_), values, value_bytes, options);
    }
    void segments(const std::vector<std::int64_t>& offsets) {
        const sort_key key{keys_.data(), data_type::u32, 0, {}};
        argsort_segments(context_, {&key, 1}, std::span<const std::int64_t>(offsets),
                         std::span<std::int64_t>(index_));
    }
};

TEST_F(RadixSortRefuses, BitRanges) {
    const std::span<std::uint32_t> keys(keys_);
    for (const auto& [begin, end] : {std::pair{-1, 4}, {0, 33}, {5, 5}, {9, 4}, {32, 0}}) {
        expect_refused(
            [&, first = begin, last = end] {
                sort(context_, keys, {.order = {}, .begin_bit = first, .end_bit = last});
            },
            "no range inside a key of 32 bits");
    }
    std::vector<float> reals(3);
    expect_refused([&] { sort(context_, std::span<float>(reals), {.order = {}, .begin_bit = 1}); },
                   "floating-point key");
    expect_refused(
        [&] {
            argsort(context_, std::span<const std::uint32_t>(keys_), std::span(index_),
                    {.order = {}, .begin_bit = 0, .end_bit = 40});
        },
        "[0, 40)");
}

TEST_F(RadixSortRefuses, Values) {
    for (const std::size_t bytes : {0U, 3U, 5U, 12U, 32U}) {
        expect_refused([&] { pairs(values_.data(), bytes); }, std::to_string(bytes) + " bytes");
    }
    expect_refused([&] { pairs(nullptr, 4); }, "null");
    auto* bytes = reinterpret_cast<std::byte*>(values_.data());
    expect_refused([&] { pairs(bytes + 1, 4); }, "not aligned to 4 bytes");
    expect_refused([&] { pairs(bytes + 4, 16); }, "not aligned to 8 bytes");
    expect_refused([&] { pairs(keys_.data() + 7, 4); }, "overlap");
}

TEST_F(RadixSortRefuses, IndexAndKeys) {
    const std::span<const std::uint32_t> keys(keys_);
    expect_refused([&] { argsort(context_, keys, std::span(index_).first(7)); },
                   "8 keys and 7 index items");
    expect_refused([&] { argsort(context_, keys, std::span<std::uint32_t>(keys_)); }, "overlap");
    const std::vector<sort_key> none;
    expect_refused([&] { argsort(context_, std::span(none), std::span(index_)); }, "no key");
    const auto* crooked = reinterpret_cast<const std::byte*>(values_.data()) + 2;
    const std::vector<sort_key> second_wrong{{keys_.data(), data_type::u32, 0, {}},
                                             {crooked, data_type::f32, 0, {}}};
    expect_refused([&] { argsort(context_, std::span(second_wrong), std::span(index_)); },
                   "key 1 is not aligned to its type, f32");
    const std::vector<sort_key> unknown{{keys_.data(), static_cast<data_type>(99), 0, {}}};
    expect_refused([&] { argsort(context_, std::span(unknown), std::span(index_)); },
                   "unknown type 99");
}

TEST_F(RadixSortRefuses, OffsetsByTheFirstOffendingPosition) {
    expect_refused([&] { segments({}); }, "no offsets");
    expect_refused([&] { segments({1, 8}); }, "offset 0 is 1");
    expect_refused([&] { segments({0, 5, 4, 3, 8}); }, "offset 2 is 4");
    expect_refused([&] { segments({0, -1, 8}); }, "offset 1 is -1");
    expect_refused([&] { segments({0, 7}); }, "the last offset, 1, is 7");
    expect_refused([&] { segments({0, 9}); }, "the last offset, 1, is 9");
    segments({0, 0, 8, 8});
    EXPECT_EQ(index_[7], 7);
}

TEST_F(RadixSortRefuses, IndexesOutsideOnGather) {
    std::vector<std::int64_t> index(100'000, 3);
    std::vector<std::uint32_t> out(index.size());
    const auto take = [&] {
        gather(context_, keys_.data(), keys_.size(), 4, std::span<const std::int64_t>(index),
               out.data());
    };
    take();
    index[99'999] = 8;
    expect_refused(take, "index 99999 is 8, outside [0, 8)");
    index[70'000] = -1;
    expect_refused(take, "index 70000 is -1");
    index.assign(2, 0);
    expect_refused(
        [&] {
            gather(context_, keys_.data(), 8, 4, std::span<const std::int64_t>(index),
                   keys_.data() + 6);
        },
        "overlap");
    expect_refused(
        [&] {
            gather(context_, keys_.data(), 8, 0, std::span<const std::int64_t>(index), out.data());
        },
        "0 bytes");
}

TEST(RadixSortMemory, StaysUnderThePromise) {
    for (const int threads : {1, 3, 8}) {
        if (sanitized && threads != 3) continue;
        counting_memory memory;
        const context context({.backend = backend::cpu, .threads = threads, .memory = &memory});
        for (const std::size_t n : {0U, 1U, 1000U, 65'536U, 65'537U, 500'000U}) {
            if (sanitized && n != 1000 && n != 65'537) continue;
            for (const distribution shape : all_distributions) {
                SCOPED_TRACE(std::string(name_of(shape)) + ", " + std::to_string(n) +
                             " items, threads " + std::to_string(threads));
                auto keys = generate<std::uint64_t>(shape, n);
                std::vector<std::uint32_t> values(n);
                std::vector<std::int64_t> index(n);
                const std::span<const std::uint64_t> all(keys);
                argsort(context, all, std::span(index));
                EXPECT_LE(memory.peak(), argsort_memory(context, n));
                memory.reset_peak();
                sort_pairs(context, std::span(keys), values.data(), 4);
                EXPECT_LE(memory.peak(), sort_pairs_memory(context, n, 8, 4));
                memory.reset_peak();
                auto again = generate<std::uint64_t>(shape, n, 2);
                sort(context, std::span(again));
                EXPECT_LE(memory.peak(), sort_memory(context, n, 8));
                EXPECT_EQ(memory.live(), 0U);
                memory.reset_peak();
                auto narrow = generate<std::uint16_t>(shape, n);
                sort(context, std::span(narrow));
                sort(context, std::span(narrow), {{}, 3, 12});
                EXPECT_LE(memory.peak(), sort_memory(context, n, 2));
                memory.reset_peak();
            }
        }
    }
}

TEST(RadixSortMemory, IsAboutOneCopy) {
    const context context({.backend = backend::cpu, .threads = 2});
    const std::size_t n = std::size_t{1} << 26;
    EXPECT_LT(argsort_memory(context, n), n * 8 * 13 / 10);
    EXPECT_LT(sort_memory(context, n, 1), n * 11 / 10);
    EXPECT_LT(sort_memory(context, n, 2), n * 2 * 11 / 10);
    EXPECT_LT(sort_pairs_memory(context, n, 8, 4), n * 12 * 13 / 10);
    EXPECT_LT(sort_pairs_memory(context, n, 2, 8), n * 10 * 13 / 10);
    EXPECT_LT(sort_pairs_memory(context, n, 4, 4), n * 8 * 13 / 10);
    EXPECT_LT(sort_pairs_memory(context, n, 1, 1), n * 2 * 14 / 10);
}

TEST(RadixSortThreads, SameBytesFromEveryNumber) {
    for (const distribution shape : {distribution::zipf, distribution::skewed_exponents,
                                     distribution::specials, distribution::uniform}) {
        const auto keys = generate<double>(shape, sanitized ? 70'000 : 200'000);
        std::vector<std::uint32_t> first;
        for (int threads = 1; threads <= 8; threads += sanitized ? 3 : 1) {
            const context context({.backend = backend::cpu, .threads = threads});
            auto sorted = keys;
            std::vector<std::uint32_t> values(keys.size());
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = static_cast<std::uint32_t>(i);
            }
            sort_pairs(context, std::span(sorted), values.data(), 4);
            if (first.empty()) first = values;
            ASSERT_EQ(first, values) << name_of(shape) << ", threads " << threads;
        }
    }
}

bool large_tests() {
    const char* wanted = std::getenv("LOOKBACK_LARGE_TESTS");
    return wanted != nullptr && wanted[0] == '1';
}

// More items than 32 bits count: one-byte keys, so that the order is known without a reference.
TEST(RadixSortLarge, BytesBeyond31Bits) {
    if (!large_tests()) GTEST_SKIP() << "needs 10 GiB; set LOOKBACK_LARGE_TESTS=1";
    const context context({.backend = backend::cpu});
    const std::size_t n = (std::size_t{1} << 31) + 1;
    const buffer<std::uint8_t> keys(context, n);
    const buffer<std::uint8_t> values(context, n);
    std::vector<std::size_t> count(256);
    random_bits random(1);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t bits = random();
        keys[i] = static_cast<std::uint8_t>(bits);
        values[i] = static_cast<std::uint8_t>(~bits);
        ++count[keys[i]];
    }
    sort_pairs(context, keys.span(), values.data(), 1);
    std::size_t at = 0;
    for (std::size_t key = 0; key < 256; ++key) {
        for (const std::size_t end = at + count[key]; at < end; ++at) {
            ASSERT_EQ(keys[at], key) << "position " << at;
            ASSERT_EQ(values[at], 255 - key) << "position " << at;
        }
    }
}

}  // namespace
}  // namespace lookback::test
