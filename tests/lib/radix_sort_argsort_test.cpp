// argsort by one key, by several, inside segments, and gather, against std::stable_sort.
#include "support/generators.hpp"
#include "support/item_types.hpp"
#include "support/red_zone.hpp"
#include "support/reference.hpp"
#include "support/sizes.hpp"

#include <lookback/radix_sort.hpp>

#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace lookback::test {
namespace {

constexpr sort_order all_orders[] = {{false, false}, {false, true}, {true, false}, {true, true}};

template <class Key>
void expect_argsorted(const context& context, const std::vector<Key>& keys,
                      const sort_options& options) {
    const std::span<const Key> all(keys);
    const auto right = stable_order(all, options);
    const red_zone<std::int64_t> wide(keys.size());
    argsort(context, all, wide.span(), options);
    ASSERT_EQ(first_difference<std::int64_t>(wide.span(), right), keys.size());
    ASSERT_TRUE(wide.intact());
    const red_zone<std::uint32_t> narrow(keys.size());
    argsort(context, all, narrow.span(), options);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(narrow[i], static_cast<std::uint32_t>(right[i])) << "position " << i;
    }
    ASSERT_TRUE(narrow.intact());
}

template <class Key>
class RadixSortArgsort : public testing::Test {};

TYPED_TEST_SUITE(RadixSortArgsort, key_types);

TYPED_TEST(RadixSortArgsort, EveryShapeAndOrder) {
    const context context({.backend = backend::cpu, .threads = 4});
    for (const distribution shape : all_distributions) {
        for (const sort_order& order : all_orders) {
            SCOPED_TRACE(std::string(name_of(shape)));
            expect_argsorted(context, generate<TypeParam>(shape, 3000), {.order = order});
        }
        if (sanitized && shape != distribution::zipf && shape != distribution::specials) continue;
        SCOPED_TRACE(std::string(name_of(shape)) + ", parallel");
        expect_argsorted(context, generate<TypeParam>(shape, sanitized ? 70'000 : 150'000), {});
    }
}

TYPED_TEST(RadixSortArgsort, EverySmallSize) {
    const context context({.backend = backend::cpu, .threads = 2});
    for (std::size_t n = 0; n <= 300; n += sanitized ? 13 : 1) {
        SCOPED_TRACE(n);
        expect_argsorted(context, generate<TypeParam>(distribution::specials, n, n),
                         {.order = all_orders[n % 4]});
    }
}

TYPED_TEST(RadixSortArgsort, BitRanges) {
    if constexpr (std::is_integral_v<TypeParam>) {
        const context context({.backend = backend::cpu, .threads = 2});
        const auto keys = generate<TypeParam>(distribution::uniform, 5000);
        constexpr int width = 8 * sizeof(TypeParam);
        for (const bool descending : {false, true}) {
            for (int begin = 0; begin < width; begin += sanitized ? 11 : 3) {
                for (int end = begin + 1; end <= width; end += 5) {
                    SCOPED_TRACE(std::to_string(begin) + " to " + std::to_string(end));
                    expect_argsorted(context, keys,
                                     {.order = {.descending = descending, .nan_first = false},
                                      .begin_bit = begin,
                                      .end_bit = end});
                }
            }
        }
    }
}

// Sizes around the switch from one leaf to buckets, and leaves that overflow.
TEST(RadixSortArgsortSizes, AroundTheLeaf) {
    for (const int threads : {1, 2, 5, 8}) {
        if (sanitized && threads != 5) continue;
        const context context({.backend = backend::cpu, .threads = threads});
        for (const std::size_t n : {65'535U, 65'536U, 65'537U, 131'071U, 131'072U, 300'001U}) {
            if (sanitized && n != 65'537) continue;
            for (const distribution shape :
                 {distribution::uniform, distribution::zipf, distribution::two_values,
                  distribution::skewed_exponents}) {
                SCOPED_TRACE(std::string(name_of(shape)) + ", " + std::to_string(n) + ", threads " +
                             std::to_string(threads));
                expect_argsorted(context, generate<std::uint64_t>(shape, n), {});
            }
        }
    }
}

// Keys that differ only far below their first bits, in huge groups: the cut of an item must not
// lose them.
TEST(RadixSortArgsortHostile, LowBitsUnderEqualHighBits) {
    const context context({.backend = backend::cpu, .threads = 3});
    random_bits random(5);
    for (const int low : {1, 8, 20, 31}) {
        std::vector<std::uint64_t> keys(sanitized ? 70'000 : 200'000);
        for (auto& key : keys) key = (random() % 3) << 62 | random() >> (64 - low);
        SCOPED_TRACE(low);
        expect_argsorted(context, keys, {});
    }
}

// Powers of two and their neighbours put every leaf's keys into few digits.
TEST(RadixSortArgsortHostile, ExponentialKeys) {
    const context context({.backend = backend::cpu, .threads = 2});
    random_bits random(6);
    std::vector<std::uint64_t> keys(120'000);
    for (auto& key : keys) key = (std::uint64_t{1} << random() % 64) + random() % 3;
    expect_argsorted(context, keys, {});
    std::vector<std::uint64_t> staircase(70'000);
    for (std::size_t i = 0; i < staircase.size(); ++i) {
        staircase[i] = (i % 7 == 0 ? ~std::uint64_t{0} : 0) - (staircase.size() - i);
    }
    expect_argsorted(context, staircase, {});
}

struct table {
    std::vector<std::int8_t> small;
    std::vector<double> real;
    std::vector<std::uint16_t> middle;
    std::vector<char> text;
    std::vector<std::uint64_t> wide;
    std::vector<std::uint64_t> few;  // wide numbers, each three times
    std::size_t text_bytes;
    std::vector<sort_key> keys;
    std::size_t rows;

    table(std::size_t count, std::size_t string_bytes, std::uint64_t seed)
        : text(count * string_bytes), text_bytes(string_bytes), rows(count) {
        random_bits random(seed);
        small = generate<std::int8_t>(distribution::zipf, count, seed);
        real = generate<double>(distribution::specials, count, seed + 1);
        middle = generate<std::uint16_t>(distribution::sawtooth, count, seed + 2);
        wide = generate<std::uint64_t>(distribution::uniform, count, seed + 3);
        for (std::size_t i = 0; i < count; ++i) {
            if (i % 3 == 0) wide[i] = wide[0];
        }
        for (std::size_t i = 0; i < count; ++i) few.push_back(wide[i % (count / 3 + 1)]);
        for (auto& byte : text) byte = static_cast<char>(random() % 2 != 0 ? 'a' : 0xf0);
    }
    sort_key key(char which, sort_order order) const {
        switch (which) {
            case 's':
                return {small.data(), data_type::i8, 0, order};
            case 'r':
                return {real.data(), data_type::f64, 0, order};
            case 'm':
                return {middle.data(), data_type::u16, 0, order};
            case 'w':
                return {wide.data(), data_type::u64, 0, order};
            default:
                return {text.data(), data_type::u8, text_bytes, order};
        }
    }
    bool before(char which, std::size_t a, std::size_t b, sort_order order) const {
        switch (which) {
            case 's':
                return stands_before(small[a], small[b], order);
            case 'r':
                return stands_before(real[a], real[b], order);
            case 'm':
                return stands_before(middle[a], middle[b], order);
            case 'w':
                return stands_before(wide[a], wide[b], order);
            default:
                break;
        }
        const int compared = std::memcmp(&text[a * text_bytes], &text[b * text_bytes], text_bytes);
        return order.descending ? compared > 0 : compared < 0;
    }
    bool before(const std::string& which, std::size_t a, std::size_t b) const {
        for (std::size_t k = 0; k < which.size(); ++k) {
            if (before(which[k], a, b, all_orders[k % 4])) return true;
            if (before(which[k], b, a, all_orders[k % 4])) return false;
        }
        return false;
    }
    std::vector<sort_key> keys_of(const std::string& which) const {
        std::vector<sort_key> made;
        for (std::size_t k = 0; k < which.size(); ++k) {
            made.push_back(key(which[k], all_orders[k % 4]));
        }
        return made;
    }
};

constexpr const char* key_lists[] = {"s",    "sm",     "ms", "rs",  "sr",   "t",
                                     "ts",   "st",     "wr", "smr", "smtw", "tmsrw",
                                     "wwww", "rrssmm", "fr", "fmt", "ffw"};

TEST(RadixSortMultiKey, AgainstTupleComparison) {
    const context context({.backend = backend::cpu, .threads = 3});
    for (const std::size_t rows : {1U, 2U, 50U, 5'000U, 80'000U}) {
        for (const std::size_t text_bytes : {1U, 3U, 8U, 9U, 21U}) {
            const table input(rows, text_bytes, rows + text_bytes);
            for (const std::string which : key_lists) {
                if (rows > 10'000 && (text_bytes != 9 || sanitized)) continue;
                if (text_bytes != 9 && which.find('t') == std::string::npos) continue;
                SCOPED_TRACE(which + ", " + std::to_string(rows) + " rows, strings of " +
                             std::to_string(text_bytes));
                const auto right = stable_order(
                    rows, [&](std::size_t a, std::size_t b) { return input.before(which, a, b); });
                const red_zone<std::int64_t> index(rows);
                argsort(context, std::span<const sort_key>(input.keys_of(which)), index.span());
                ASSERT_EQ(first_difference<std::int64_t>(index.span(), right), rows);
                ASSERT_TRUE(index.intact());
            }
        }
    }
}

std::vector<std::int64_t> offsets_of(const std::vector<std::size_t>& lengths) {
    std::vector<std::int64_t> offsets{0};
    for (const std::size_t length : lengths) {
        offsets.push_back(offsets.back() + static_cast<std::int64_t>(length));
    }
    return offsets;
}

TEST(RadixSortSegments, TinyEmptyGiantAndAllAtOnce) {
    random_bits random(3);
    std::vector<std::vector<std::size_t>> shapes = {{},  {0}, {0, 0, 0},
                                                    {1}, {5}, {sanitized ? 70'000U : 200'000U}};
    std::vector<std::size_t> tiny(sanitized ? 3'000 : 30'000);
    for (auto& length : tiny) length = random() % 8;
    shapes.push_back(tiny);
    std::vector<std::size_t> mixed = tiny;
    mixed[100] = sanitized ? 66'000 : 150'000;
    mixed[101] = 0;
    mixed[mixed.size() / 2] = 70'000;
    shapes.push_back(mixed);
    shapes.push_back({65'536, 0, 65'537, 1, 0, 0, 3'000, 40, 17, 16, 24, 25, 26});
    for (const int threads : {1, 2, 8}) {
        if (sanitized && threads != 8) continue;
        const context context({.backend = backend::cpu, .threads = threads});
        for (std::size_t s = 0; s < shapes.size(); ++s) {
            const auto offsets = offsets_of(shapes[s]);
            const auto rows = static_cast<std::size_t>(offsets.back());
            const table input(rows, 3, s);
            for (const std::string which : {"s", "w", "sw", "fr"}) {
                if (sanitized && which != "fr") continue;
                SCOPED_TRACE("shape " + std::to_string(s) + ", keys " + which);
                std::vector<std::size_t> segment(rows);
                for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
                    std::fill(segment.begin() + offsets[i], segment.begin() + offsets[i + 1], i);
                }
                const auto right = stable_order(rows, [&](std::size_t a, std::size_t b) {
                    if (segment[a] != segment[b]) return segment[a] < segment[b];
                    return input.before(which, a, b);
                });
                const red_zone<std::int64_t> index(rows);
                argsort_segments(context, std::span<const sort_key>(input.keys_of(which)),
                                 std::span<const std::int64_t>(offsets), index.span());
                ASSERT_EQ(first_difference<std::int64_t>(index.span(), right), rows);
                ASSERT_TRUE(index.intact());
            }
        }
    }
}

TEST(RadixSortGather, RowsOfEverySize) {
    const context context({.backend = backend::cpu, .threads = 3});
    random_bits random(2);
    for (const std::size_t bytes : {1U, 2U, 3U, 4U, 7U, 8U, 12U, 16U, 40U, 64U, 100U}) {
        for (const std::size_t rows : {1U, 100U, 40'000U}) {
            std::vector<std::uint8_t> in(rows * bytes);
            for (auto& byte : in) byte = static_cast<std::uint8_t>(random());
            std::vector<std::uint32_t> index(rows + rows / 2);
            for (auto& row : index) row = static_cast<std::uint32_t>(random() % rows);
            const red_zone<std::uint8_t> out(index.size() * bytes);
            gather(context, in.data(), rows, bytes, std::span<const std::uint32_t>(index),
                   out.data());
            for (std::size_t i = 0; i < index.size(); ++i) {
                ASSERT_EQ(std::memcmp(&out[i * bytes], &in[index[i] * bytes], bytes), 0)
                    << "row " << i << " of " << bytes << " bytes";
            }
            ASSERT_TRUE(out.intact());
        }
    }
}

}  // namespace
}  // namespace lookback::test
