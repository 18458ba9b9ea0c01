// The C API: a client in C, every type against the standard library, and a boundary that holds.
#include <lookback/context.hpp>
#include <lookback/lookback.h>
#include <lookback/radix_sort.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
const char* c_client_sorts_and_scans(void);
const char* c_client_orders_by_two_keys(void);
const char* c_client_reads_errors(void);
}

namespace {

class CApi : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(lookback_context_create(&context_, LOOKBACK_CPU, 2), LOOKBACK_OK);
    }
    void TearDown() override { lookback_context_destroy(context_); }

    // A call that must be refused with a text that names the culprit.
    static void expect_refused(lookback_status status, const std::string& named) {
        EXPECT_EQ(status, LOOKBACK_INVALID_ARGUMENT);
        EXPECT_NE(std::string(lookback_last_error()).find(named), std::string::npos)
            << lookback_last_error();
    }

    lookback_context* context_ = nullptr;
};

TEST(CClient, SortsAndScans) {
    EXPECT_STREQ(c_client_sorts_and_scans(), nullptr);
}
TEST(CClient, OrdersByTwoKeys) {
    EXPECT_STREQ(c_client_orders_by_two_keys(), nullptr);
}
TEST(CClient, ReadsErrors) {
    EXPECT_STREQ(c_client_reads_errors(), nullptr);
}

template <class T>
class CApiOfType : public CApi {};

struct names {
    template <class T>
    static std::string GetName(int) {
        return (std::is_floating_point_v<T> ? "f"
                : std::is_signed_v<T>       ? "i"
                                            : "u") +
               std::to_string(8 * sizeof(T));
    }
};

template <class T>
constexpr lookback_type type_of = std::is_floating_point_v<T>
                                      ? (sizeof(T) == 4 ? LOOKBACK_F32 : LOOKBACK_F64)
                                      : (std::is_signed_v<T> ? LOOKBACK_I8 : LOOKBACK_U8) +
                                            (sizeof(T) == 1   ? 0
                                             : sizeof(T) == 2 ? 1
                                             : sizeof(T) == 4 ? 2
                                                              : 3);

using types = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                             std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(CApiOfType, types, names);

// Small whole numbers: sums of floats are exact, and equal keys are common.
template <class T>
std::vector<T> small_numbers(std::size_t n) {
    std::mt19937 random(7);
    std::vector<T> numbers(n);
    for (T& number : numbers) number = static_cast<T>(random() % 100);
    return numbers;
}

TYPED_TEST(CApiOfType, SortsPairsAndIndicesLikeTheStandardLibrary) {
    const std::vector<TypeParam> keys = small_numbers<TypeParam>(5000);
    std::vector<std::int64_t> expected(keys.size());
    std::iota(expected.begin(), expected.end(), 0);
    const std::vector<std::int64_t> positions = expected;
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::int64_t a, std::int64_t b) { return keys[a] > keys[b]; });
    std::vector<TypeParam> expected_keys(keys.size());
    std::transform(expected.begin(), expected.end(), expected_keys.begin(),
                   [&](std::int64_t i) { return keys[i]; });
    lookback_sort_options descending{};
    descending.descending = 1;
    constexpr lookback_type type = type_of<TypeParam>;

    std::vector<std::int64_t> index(keys.size());
    ASSERT_EQ(lookback_argsort(this->context_, type, keys.data(), index.data(), index.size(),
                               &descending),
              LOOKBACK_OK)
        << lookback_last_error();
    EXPECT_EQ(index, expected);

    std::vector<TypeParam> sorted = keys;
    std::vector<std::int64_t> values = positions;
    ASSERT_EQ(lookback_sort_pairs(this->context_, type, sorted.data(), values.data(),
                                  sizeof(values[0]), sorted.size(), &descending),
              LOOKBACK_OK)
        << lookback_last_error();
    EXPECT_EQ(sorted, expected_keys);
    EXPECT_EQ(values, expected);

    sorted = keys;
    ASSERT_EQ(lookback_sort(this->context_, type, sorted.data(), sorted.size(), &descending),
              LOOKBACK_OK)
        << lookback_last_error();
    EXPECT_EQ(sorted, expected_keys);
}

TYPED_TEST(CApiOfType, ScansLikeTheStandardLibrary) {
    const std::vector<TypeParam> in = small_numbers<TypeParam>(3000);
    const TypeParam init = 3;
    const lookback_scan_options options{.init = &init, .reproducible = 1, .strategy = "automatic"};
    const auto plus = [](TypeParam a, TypeParam b) { return static_cast<TypeParam>(a + b); };
    std::vector<TypeParam> expected(in.size());
    std::vector<TypeParam> out(in.size());

    std::inclusive_scan(in.begin(), in.end(), expected.begin(), plus, init);
    ASSERT_EQ(lookback_inclusive_scan(this->context_, type_of<TypeParam>, LOOKBACK_PLUS, in.data(),
                                      out.data(), in.size(), &options),
              LOOKBACK_OK)
        << lookback_last_error();
    EXPECT_EQ(out, expected);

    std::exclusive_scan(in.begin(), in.end(), expected.begin(), init,
                        [](TypeParam a, TypeParam b) { return std::max(a, b); });
    ASSERT_EQ(lookback_exclusive_scan(this->context_, type_of<TypeParam>, LOOKBACK_MAXIMUM,
                                      in.data(), out.data(), in.size(), &options),
              LOOKBACK_OK)
        << lookback_last_error();
    EXPECT_EQ(out, expected);
}

TEST_F(CApi, SortsHalfPrecisionWithNanFirst) {
    std::vector<std::uint16_t> bits{0x3c00, 0xc000, 0x7e00, 0x0000, 0x7c00};  // 1 -2 nan 0 inf
    lookback_sort_options nan_first{};
    nan_first.nan_first = 1;
    ASSERT_EQ(lookback_sort(context_, LOOKBACK_F16, bits.data(), bits.size(), &nan_first),
              LOOKBACK_OK)
        << lookback_last_error();
    EXPECT_EQ(bits, (std::vector<std::uint16_t>{0x7e00, 0xc000, 0x0000, 0x3c00, 0x7c00}));
}

TEST_F(CApi, ContextsSayWhatTheyAre) {
    lookback_backend backend = -1;
    std::int32_t threads = 0;
    EXPECT_EQ(lookback_context_backend(context_, &backend), LOOKBACK_OK);
    EXPECT_EQ(backend, LOOKBACK_CPU);
    EXPECT_EQ(lookback_context_threads(context_, &threads), LOOKBACK_OK);
    EXPECT_EQ(threads, 2);
    EXPECT_EQ(std::string(lookback_version()), lookback::version());
}

TEST_F(CApi, CompactsItemsRowsAndNumbers) {
    const std::vector<std::int32_t> in{7, 2, 9, 4, 5, 5, 1, 6};
    std::vector<std::int32_t> out(8, -1);
    const std::int32_t five = 5;
    size_t kept = 0;
    ASSERT_EQ(lookback_compact_if(context_, LOOKBACK_I32, LOOKBACK_GREATER_EQUAL, &five, in.data(),
                                  8, out.data(), 8, &kept),
              LOOKBACK_OK);
    out.resize(kept);
    EXPECT_EQ(out, (std::vector<std::int32_t>{7, 9, 5, 5, 6}));
    ASSERT_EQ(lookback_unique(context_, LOOKBACK_I32, out.data(), 5, out.data(), 5, &kept),
              LOOKBACK_OK);
    out.resize(kept);
    EXPECT_EQ(out, (std::vector<std::int32_t>{7, 9, 5, 6}));

    const std::vector<std::uint8_t> flags{0, 1, 0, 2};
    const char rows[] = "aaabbbcccddd";
    std::string passed(6, '.');
    std::string others(6, '.');
    ASSERT_EQ(lookback_compact_rows(context_, flags.data(), 4, rows, 3, passed.data(),
                                    others.data(), &kept),
              LOOKBACK_OK);
    EXPECT_EQ(kept, 2U);
    EXPECT_EQ(passed + others, "bbbdddaaaccc");
    std::vector<std::int64_t> index(2);
    ASSERT_EQ(lookback_compact_indices(context_, flags.data(), 4, index.data(), 2, &kept),
              LOOKBACK_OK);
    EXPECT_EQ(index, (std::vector<std::int64_t>{1, 3}));

    expect_refused(lookback_compact_if(context_, LOOKBACK_I32, LOOKBACK_LESS, &five, in.data(), 8,
                                       out.data(), 2, &kept),
                   "room for 2");
    expect_refused(
        lookback_compact_if(context_, LOOKBACK_I32, 6, &five, in.data(), 8, out.data(), 2, &kept),
        "op is 6");
    expect_refused(lookback_compact_if(context_, LOOKBACK_F16, LOOKBACK_LESS, &five, in.data(), 8,
                                       out.data(), 2, &kept),
                   "f16");
    expect_refused(lookback_compact_if(context_, LOOKBACK_I32, LOOKBACK_LESS, nullptr, in.data(), 8,
                                       out.data(), 2, &kept),
                   "value is null");
    expect_refused(lookback_unique(context_, LOOKBACK_I32, in.data(), 8, out.data(), 2, nullptr),
                   "kept is null");
    expect_refused(lookback_compact_rows(context_, nullptr, 4, rows, 3, nullptr, nullptr, &kept),
                   "flags is null");
}

TEST_F(CApi, EmptyArraysMayBeNull) {
    EXPECT_EQ(lookback_sort(context_, LOOKBACK_F64, nullptr, 0, nullptr), LOOKBACK_OK);
    EXPECT_EQ(lookback_argsort(context_, LOOKBACK_U8, nullptr, nullptr, 0, nullptr), LOOKBACK_OK);
    EXPECT_EQ(lookback_inclusive_scan(context_, LOOKBACK_I16, LOOKBACK_PLUS, nullptr, nullptr, 0,
                                      nullptr),
              LOOKBACK_OK);
    void* block = &block;
    EXPECT_EQ(lookback_allocate(context_, 0, &block), LOOKBACK_OK);
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(lookback_deallocate(context_, nullptr, 0), LOOKBACK_OK);
    lookback_context_destroy(nullptr);
}

TEST_F(CApi, NullAndMisalignedPointersAreNamed) {
    std::uint64_t words[3] = {3, 2, 1};
    std::int64_t index[3] = {};
    auto* odd = reinterpret_cast<char*>(words) + 1;
    expect_refused(lookback_sort(nullptr, LOOKBACK_U64, words, 3, nullptr), "context");
    expect_refused(lookback_sort(context_, LOOKBACK_U64, nullptr, 3, nullptr), "keys");
    expect_refused(lookback_sort(context_, LOOKBACK_U64, odd, 2, nullptr), "keys");
    expect_refused(lookback_sort_pairs(context_, LOOKBACK_U64, words, nullptr, 4, 3, nullptr),
                   "values");
    expect_refused(lookback_argsort(context_, LOOKBACK_U64, words, nullptr, 3, nullptr), "index");
    expect_refused(
        lookback_inclusive_scan(context_, LOOKBACK_U64, LOOKBACK_PLUS, words, nullptr, 3, nullptr),
        "out");
    expect_refused(lookback_argsort_keys(context_, nullptr, 1, index, 3), "keys");
    const lookback_sort_key no_data{};
    expect_refused(lookback_argsort_keys(context_, &no_data, 1, index, 3), "keys[0].data");
    expect_refused(lookback_gather(context_, nullptr, 3, 8, index, 3, words), "in");
    expect_refused(lookback_context_create(nullptr, LOOKBACK_CPU, 1), "context");
    expect_refused(lookback_context_threads(context_, nullptr), "threads");
    EXPECT_EQ(words[0], 3U);
}

TEST_F(CApi, UnknownConstantsAndSizesAreNamed) {
    float numbers[2] = {2, 1};
    lookback_context* other = context_;
    expect_refused(lookback_context_create(&other, 7, 1), "backend is 7");
    EXPECT_EQ(other, nullptr);
    expect_refused(lookback_context_create(&other, LOOKBACK_CPU, -3), "-3");
    expect_refused(lookback_sort(context_, -1, numbers, 2, nullptr), "type is -1");
    expect_refused(lookback_inclusive_scan(context_, LOOKBACK_F32, 7, numbers, numbers, 2, nullptr),
                   "op is 7");
    expect_refused(lookback_inclusive_scan(context_, LOOKBACK_F16, LOOKBACK_PLUS, numbers, numbers,
                                           2, nullptr),
                   "f16");
    expect_refused(lookback_inclusive_scan(context_, LOOKBACK_F32, LOOKBACK_BIT_OR, numbers,
                                           numbers, 2, nullptr),
                   "");
    expect_refused(lookback_sort(context_, LOOKBACK_F32, numbers,
                                 std::numeric_limits<std::size_t>::max() / 2, nullptr),
                   "address space");
    const lookback_scan_options unknown{.init = nullptr, .reproducible = 0, .strategy = "luck"};
    expect_refused(lookback_inclusive_scan(context_, LOOKBACK_F32, LOOKBACK_PLUS, numbers, numbers,
                                           2, &unknown),
                   "luck");
    EXPECT_EQ(numbers[0], 2.0F);
}

TEST_F(CApi, MemoryIsToldBeforeItIsTaken) {
    std::size_t keys = 0;
    std::size_t pairs = 0;
    std::size_t index = 0;
    EXPECT_EQ(lookback_sort_memory(context_, 1 << 20, 4, &keys), LOOKBACK_OK);
    EXPECT_EQ(lookback_sort_pairs_memory(context_, 1 << 20, 4, 8, &pairs), LOOKBACK_OK);
    EXPECT_EQ(lookback_argsort_memory(context_, 1 << 20, &index), LOOKBACK_OK);
    const lookback::context cpu({.backend = lookback::backend::cpu, .threads = 2});
    EXPECT_EQ(keys, lookback::sort_memory(cpu, 1 << 20, 4));
    EXPECT_EQ(pairs, lookback::sort_pairs_memory(cpu, 1 << 20, 4, 8));
    EXPECT_EQ(index, lookback::argsort_memory(cpu, 1 << 20));
    expect_refused(lookback_sort_memory(context_, 1, 4, nullptr), "bytes");
}

TEST_F(CApi, ImpossibleMemoryIsAStatus) {
    void* block = nullptr;
    EXPECT_EQ(lookback_allocate(context_, std::size_t{1} << 61, &block), LOOKBACK_OUT_OF_MEMORY);
    EXPECT_EQ(block, nullptr);
    EXPECT_STRNE(lookback_last_error(), "");
}

TEST_F(CApi, ErrorTextsStayInTheirThread) {
    expect_refused(lookback_sort(context_, 42, nullptr, 0, nullptr), "42");
    std::thread([] { EXPECT_STREQ(lookback_last_error(), ""); }).join();
    EXPECT_NE(std::string(lookback_last_error()).find("42"), std::string::npos);
}

}  // namespace
