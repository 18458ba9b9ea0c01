// Sorts on a CUDA context through the public API against std::stable_sort: keys, pairs of every
// value size, indices by one and several keys, segments, strings, gather, memory, and refusals.
#include "support/reference.hpp"

#include <lookback/buffer.hpp>
#include <lookback/error.hpp>
#include <lookback/radix_sort.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace lookback {
namespace {

using test::distribution;

/// Another resource's blocks, counted.
class counted_memory final : public memory_resource {
public:
    explicit counted_memory(memory_resource& blocks) : blocks_(blocks) {}
    void* allocate(std::size_t bytes) override {
        live_ += bytes;
        peak_ = std::max(peak_, live_);
        return blocks_.allocate(bytes);
    }
    void deallocate(void* block, std::size_t bytes) noexcept override {
        live_ -= bytes;
        blocks_.deallocate(block, bytes);
    }
    std::size_t take_peak() { return std::exchange(peak_, live_); }

private:
    memory_resource& blocks_;
    std::size_t live_ = 0;
    std::size_t peak_ = 0;
};

// Skips without a GPU, and says so; fails instead where LOOKBACK_REQUIRE_CUDA is 1.
class CudaSort : public testing::Test {
protected:
    void SetUp() override {
        try {
            gpu_.emplace(context_options{.backend = backend::cuda});
        } catch (const error& failure) {
            const char* required = std::getenv("LOOKBACK_REQUIRE_CUDA");
            if (required != nullptr && std::string(required) == "1") FAIL() << failure.what();
            GTEST_SKIP() << "no GPU: " << failure.what();
        }
    }

    template <class T>
    buffer<T> to_gpu(const std::vector<T>& items) const {
        buffer<T> there(*gpu_, items.size());
        gpu_->copy(there.data(), items.data(), items.size() * sizeof(T));
        return there;
    }
    template <class T>
    std::vector<T> to_host(const buffer<T>& items) const {
        std::vector<T> here(items.size());
        gpu_->copy(here.data(), items.data(), items.size() * sizeof(T));
        return here;
    }

    template <class Key>
    void check_type(std::size_t n) const {
        for (const auto shape : {distribution::uniform, distribution::specials, distribution::zipf,
                                 distribution::reversed}) {
            const auto keys = test::generate<Key>(shape, n);
            for (const bool descending : {false, true}) {
                const sort_options options{{descending, descending}, 0, 0};
                const auto order = test::stable_order(std::span<const Key>(keys), options);
                const auto expected = test::taken_by(std::span<const Key>(keys), order);
                const std::string name = std::string(name_of(type_of<Key>())) + " " +
                                         std::string(test::name_of(shape)) + " n " +
                                         std::to_string(n);
                check_keys(keys, expected, options, name);
                check_pairs<1>(keys, expected, order, options, name);
                check_pairs<2>(keys, expected, order, options, name);
                check_pairs<4>(keys, expected, order, options, name);
                check_pairs<8>(keys, expected, order, options, name);
                check_pairs<16>(keys, expected, order, options, name);
                check_index<std::uint32_t>(keys, order, options, name);
                check_index<std::int64_t>(keys, order, options, name);
            }
        }
    }

    template <class Key>
    void check_keys(const std::vector<Key>& keys, const std::vector<Key>& expected,
                    const sort_options& options, const std::string& name) const {
        const auto there = to_gpu(keys);
        sort(*gpu_, there.span(), options);
        expect_same(to_host(there), expected, name + ", keys");
    }

    template <std::size_t Bytes, class Key>
    void check_pairs(const std::vector<Key>& keys, const std::vector<Key>& expected,
                     const std::vector<std::int64_t>& order, const sort_options& options,
                     const std::string& name) const {
        struct alignas(Bytes < 8 ? Bytes : 8) value {
            unsigned char bytes[Bytes];
        };
        std::vector<value> values(keys.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::memcpy(values[i].bytes, &i, std::min(Bytes, sizeof(i)));
        }
        const auto there = to_gpu(keys);
        const auto moved = to_gpu(values);
        sort_pairs(*gpu_, there.span(), moved.data(), Bytes, options);
        expect_same(to_host(there), expected, name + ", keys of pairs");
        expect_same(to_host(moved), test::taken_by(std::span<const value>(values), order),
                    name + ", values of " + std::to_string(Bytes) + " bytes");
    }

    template <class Index, class Key>
    void check_index(const std::vector<Key>& keys, const std::vector<std::int64_t>& order,
                     const sort_options& options, const std::string& name) const {
        const auto there = to_gpu(keys);
        const buffer<Index> index(*gpu_, keys.size());
        argsort<Key, Index>(*gpu_, there.span(), index.span(), options);
        expect_index(index, order, name);
    }
    template <class Index>
    void expect_index(const buffer<Index>& index, const std::vector<std::int64_t>& order,
                      const std::string& name) const {
        const std::vector<Index> got = to_host(index);
        const std::vector<Index> expected(order.begin(), order.end());
        EXPECT_TRUE(got == expected) << name << ", index";
    }
    template <class T>
    static void expect_same(const std::vector<T>& got, const std::vector<T>& expected,
                            const std::string& name) {
        EXPECT_EQ(test::first_difference(std::span<const T>(got), std::span<const T>(expected)),
                  expected.size())
            << name;
    }

    std::optional<context> gpu_;
};

TEST_F(CudaSort, EveryType) {
    for (const std::size_t n : {0, 1, 2, 1000, 30011}) {
        check_type<std::int8_t>(n);
        check_type<std::uint8_t>(n);
        check_type<std::int16_t>(n);
        check_type<std::uint16_t>(n);
        check_type<float16>(n);
        check_type<std::int32_t>(n);
        check_type<std::uint32_t>(n);
        check_type<float>(n);
        check_type<std::int64_t>(n);
        check_type<std::uint64_t>(n);
        check_type<double>(n);
    }
}

TEST_F(CudaSort, PartsOfTheBits) {
    const auto keys = test::generate<std::int32_t>(distribution::uniform, 20011);
    for (const auto& [begin, end] :
         std::vector<std::pair<int, int>>{{0, 5}, {3, 17}, {24, 32}, {31, 32}}) {
        const sort_options options{{true, false}, begin, end};
        const auto order = test::stable_order(std::span<const std::int32_t>(keys), options);
        const auto expected = test::taken_by(std::span<const std::int32_t>(keys), order);
        check_keys(keys, expected, options, "bits");
        check_index<std::uint32_t>(keys, order, options, "bits");
    }
}

TEST_F(CudaSort, SeveralKeysAndSegments) {
    constexpr std::size_t n = 20011;
    constexpr std::size_t width = 11;
    const auto first = test::generate<std::int16_t>(distribution::zipf, n, 1);
    const auto second = test::generate<double>(distribution::specials, n, 2);
    test::random_bits random(3);
    std::vector<unsigned char> strings(n * width);
    for (auto& byte : strings) byte = static_cast<unsigned char>(random() % 3 * 100);
    const auto by_string = [&](std::size_t a, std::size_t b) {
        return std::memcmp(&strings[a * width], &strings[b * width], width);
    };
    std::vector<std::int64_t> offsets{0, 0, 5, 5};
    while (offsets.back() < static_cast<std::int64_t>(n)) {
        offsets.push_back(std::min<std::int64_t>(n, offsets.back() + random() % 700));
    }
    std::vector<std::size_t> segment(n);
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        for (auto i = offsets[s]; i < offsets[s + 1]; ++i) segment[static_cast<std::size_t>(i)] = s;
    }
    const auto before = [&](std::size_t a, std::size_t b) {
        if (first[a] != first[b]) return first[a] > first[b];
        if (const int compared = by_string(a, b); compared != 0) return compared < 0;
        return test::stands_before(second[a], second[b], sort_order{false, true});
    };
    const auto a = to_gpu(first);
    const auto b = to_gpu(second);
    const auto c = to_gpu(strings);
    const auto cuts = to_gpu(offsets);
    const sort_key keys[] = {{a.data(), data_type::i16, 0, {true, false}},
                             {c.data(), data_type::u8, width, {false, false}},
                             {b.data(), data_type::f64, 0, {false, true}}};
    const buffer<std::uint32_t> index(*gpu_, n);
    argsort<std::uint32_t>(*gpu_, keys, index.span());
    expect_index(index, test::stable_order(n, before), "three keys");
    const buffer<std::int64_t> wide(*gpu_, n);
    argsort_segments<std::int64_t>(*gpu_, keys, cuts.span(), wide.span());
    expect_index(wide,
                 test::stable_order(n,
                                    [&](std::size_t x, std::size_t y) {
                                        if (segment[x] != segment[y])
                                            return segment[x] < segment[y];
                                        return before(x, y);
                                    }),
                 "segments");
}

TEST_F(CudaSort, GatherOfEveryItemSize) {
    constexpr std::size_t n = 3001;
    test::random_bits random(9);
    std::vector<std::uint32_t> places(5000);
    for (auto& place : places) place = static_cast<std::uint32_t>(random() % n);
    const auto index = to_gpu(places);
    for (const std::size_t bytes : {1, 2, 3, 4, 6, 8, 12, 16, 20, 33}) {
        std::vector<unsigned char> items(n * bytes);
        for (auto& byte : items) byte = static_cast<unsigned char>(random());
        std::vector<unsigned char> expected;
        for (const auto place : places) {
            const auto at = items.begin() + static_cast<std::ptrdiff_t>(place * bytes);
            expected.insert(expected.end(), at, at + static_cast<std::ptrdiff_t>(bytes));
        }
        const auto in = to_gpu(items);
        const buffer<unsigned char> out(*gpu_, expected.size());
        gather<std::uint32_t>(*gpu_, in.data(), n, bytes, index.span(), out.data());
        EXPECT_TRUE(to_host(out) == expected) << bytes << " bytes";
    }
    places[77] = n;
    places[99] = n + 5;
    const auto wrong = to_gpu(places);
    const buffer<unsigned char> in(*gpu_, n);
    const buffer<unsigned char> out(*gpu_, places.size());
    try {
        gather<std::uint32_t>(*gpu_, in.data(), n, 1, wrong.span(), out.data());
        FAIL() << "an index outside was taken";
    } catch (const error& failure) {
        EXPECT_NE(std::string(failure.what()).find("index 77 is 3001"), std::string::npos)
            << failure.what();
    }
}

TEST_F(CudaSort, HostMemoryIsRefused) {
    std::vector<std::uint32_t> keys(100);
    EXPECT_THROW(sort(*gpu_, std::span<std::uint32_t>(keys)), error);
    const auto there = to_gpu(keys);
    EXPECT_THROW(sort_pairs(*gpu_, there.span(), keys.data(), 4), error);
}

// What is taken from the caller's memory resource stays within what was promised.
TEST_F(CudaSort, MemoryIsAsPromised) {
    constexpr std::size_t n = 50001;
    counted_memory counted(gpu_->memory());
    const context limited({.backend = backend::cuda, .threads = 0, .memory = &counted});
    const auto keys = test::generate<std::uint64_t>(distribution::uniform, n);
    const auto there = to_gpu(keys);
    const buffer<std::uint16_t> values(*gpu_, n);
    const buffer<std::uint32_t> index(*gpu_, n);
    gpu_->synchronize();
    sort(limited, there.span());
    limited.synchronize();
    const std::size_t for_keys = counted.take_peak();
    EXPECT_GT(for_keys, 0U);
    EXPECT_LE(for_keys, sort_memory(limited, n, 8));
    sort_pairs(limited, there.span(), values.data(), 2);
    limited.synchronize();
    EXPECT_LE(counted.take_peak(), sort_pairs_memory(limited, n, 8, 2));
    const sort_key key{there.data(), data_type::u64, 0, {}};
    argsort<std::uint32_t>(limited, std::span(&key, 1), index.span());
    EXPECT_LE(counted.take_peak(), argsort_memory(limited, n));
    limited.synchronize();
}

}  // namespace
}  // namespace lookback
