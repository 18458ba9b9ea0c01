// The CPU sort of keys alone against std::stable_sort, on every SIMD target, with few and many
// threads, around every size at which another path is taken.
#include "cpu/radix_keys.hpp"

#include "cpu/key_classes.hpp"
#include "memory/host_pool.hpp"
#include "support/generators.hpp"
#include "support/item_types.hpp"
#include "support/red_zone.hpp"
#include "support/reference.hpp"
#include "support/sizes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace lookback::cpu {
namespace {

using test::bits_of;
using test::distribution;
using test::key_types;
using test::sanitized;

template <class Key>
auto order_of(const sort_order& order) {
    using Bits = bits_of<Key>;
    if constexpr (std::is_integral_v<Key>) {
        return core::make_integer_order<Bits>(std::is_signed_v<Key>, order.descending);
    } else {
        return core::make_float_order<Bits>(order.descending, order.nan_first);
    }
}

struct sort_case {
    int threads = 1;
    sort_order order;
    int begin_bit = 0;
    int end_bit = 0;  // 0: all
    std::size_t offset = 0;
};

// Sorts a copy between red zones and compares it with the stable sort of the whole.
template <class Key>
void check(const std::vector<Key>& keys, const sort_case& how, const std::string& what) {
    using Bits = bits_of<Key>;
    const sort_options options{how.order, how.begin_bit, how.end_bit};
    std::vector<Key> expected(keys);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](Key a, Key b) { return test::stands_before(a, b, options); });
    test::red_zone<Key> sorted(keys, how.offset);
    executor executor(how.threads);
    host_pool pool;
    const int width = 8 * static_cast<int>(sizeof(Key));
    sort_keys(executor, pool, std::span(reinterpret_cast<Bits*>(sorted.data()), keys.size()),
              order_of<Key>(how.order), how.begin_bit, how.end_bit != 0 ? how.end_bit : width);
    const std::string name =
        what + ", n " + std::to_string(keys.size()) + ", threads " + std::to_string(how.threads) +
        (how.order.descending ? ", descending" : "") + (how.order.nan_first ? ", NaN first" : "");
    ASSERT_TRUE(sorted.intact()) << name;
    const bool same =
        keys.empty() || std::memcmp(sorted.data(), expected.data(), keys.size() * sizeof(Key)) == 0;
    if (same) return;
    std::size_t at = 0;
    while (std::memcmp(sorted.data() + at, &expected[at], sizeof(Key)) == 0) ++at;
    FAIL() << name << ": first difference at " << at;
}

template <class Key>
std::vector<sort_order> orders_of() {
    if constexpr (std::is_integral_v<Key>) return {{false, false}, {true, false}};
    if constexpr (sanitized) return {{false, true}, {true, false}};
    return {{false, false}, {true, false}, {false, true}, {true, true}};
}

// Runs body with every SIMD target that this machine has; 0 stands for the best.
template <class Body>
void on_each_target(const Body& body) {
    std::vector<std::int64_t> targets = {0, HWY_STATIC_TARGET};
#if HWY_ARCH_X86
    if constexpr (!sanitized) targets.push_back(HWY_AVX2 | HWY_STATIC_TARGET);
#endif
    for (const std::int64_t target : targets) {
        hwy::SetSupportedTargetsForTest(target);
        body();
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
}

template <class Key>
class RadixKeys : public testing::Test {};
TYPED_TEST_SUITE(RadixKeys, key_types);

TYPED_TEST(RadixKeys, EverySmallSize) {
    on_each_target([] {
        constexpr std::size_t stride = sanitized ? 7 : 1;
        for (std::size_t n = 0; n <= 600; n += n < 270 ? stride : 13 * stride) {
            for (const auto shape : {distribution::uniform, distribution::specials}) {
                check(test::generate<TypeParam>(shape, n, n),
                      {1, {n % 2 == 1, n % 4 >= 2}, 0, 0, n % 5}, std::string(name_of(shape)));
            }
        }
    });
}

TYPED_TEST(RadixKeys, EveryShapeAndOrder) {
    on_each_target([] {
        for (const auto shape : test::all_distributions) {
            for (const std::size_t n : sanitized
                                           ? std::vector<std::size_t>{5000, 16385}
                                           : std::vector<std::size_t>{5000, 16384, 16385, 60001}) {
                const auto keys = test::generate<TypeParam>(shape, n);
                for (const auto& order : orders_of<TypeParam>()) {
                    const int threads = n % 2 == 1 ? 2 : 1;
                    check(keys, {threads, order, 0, 0, 1}, std::string(name_of(shape)));
                }
            }
        }
    });
}

TYPED_TEST(RadixKeys, SameBytesFromAnyNumberOfThreads) {
    for (const auto shape :
         {distribution::uniform, distribution::specials, distribution::skewed_exponents}) {
        const auto keys = test::generate<TypeParam>(shape, 100000);
        for (const int threads :
             sanitized ? std::vector<int>{2, 5} : std::vector<int>{1, 2, 3, 5, 8}) {
            check(keys, {threads, {true, true}, 0, 0, 0}, std::string(name_of(shape)));
        }
    }
}

// A rare shape beside a common one: outside what the sample sees, and in hot buckets.
TYPED_TEST(RadixKeys, FewStrangersAmongMany) {
    constexpr std::size_t n = 70000;
    for (const auto common :
         {distribution::all_equal, distribution::two_values, distribution::zipf,
          distribution::sorted, distribution::reversed, distribution::sawtooth}) {
        auto keys = test::generate<TypeParam>(common, n);
        const auto rare = test::generate<TypeParam>(distribution::specials, n / 1000);
        for (std::size_t i = 0; i < rare.size(); ++i) keys[i * 991 % n] = rare[i];
        for (const auto& order : orders_of<TypeParam>()) {
            check(keys, {2, order, 0, 0, 3}, std::string(name_of(common)));
        }
    }
}

// Most keys among few neighbouring patterns, which are counted rather than moved: beside zeros of
// both signs, where the patterns end, and with the rest on both sides of them.
TYPED_TEST(RadixKeys, MostKeysInANarrowWindow) {
    using Bits = bits_of<TypeParam>;
    constexpr int width = 8 * sizeof(Bits);
    constexpr std::size_t n = sanitized ? 20001 : 300001;
    constexpr auto top = static_cast<Bits>(Bits{1} << (width - 1));
    constexpr Bits numbers = width == 8 ? 20 : 900;
    const Bits starts[] = {Bits{0},
                           static_cast<Bits>(Bits{0} - numbers),
                           top,
                           static_cast<Bits>(top - numbers / 2),
                           static_cast<Bits>(top / 2 - top / 64),
                           static_cast<Bits>(top + top / 2)};
    test::random_bits random(7);
    std::size_t round = 0;
    for (const Bits start : starts) {
        for (const auto others : {distribution::uniform, distribution::specials}) {
            auto keys = test::generate<TypeParam>(others, n);
            for (std::size_t i = 0; i < n; ++i) {
                if (random() % 4 == 0) continue;
                // In every other round half of these are equal.
                const std::uint64_t place = round % 2 != 0 && i % 2 != 0 ? 3 : random() % numbers;
                keys[i] = std::bit_cast<TypeParam>(static_cast<Bits>(start + place));
            }
            for (const auto& order : orders_of<TypeParam>()) {
                check(keys, {2, order, 0, 0, 1}, "window " + std::to_string(round));
            }
            ++round;
        }
    }
}

// Density that changes gently: buckets are those of segments, and begin where they say; a few zeros
// and NaNs among floats, and keys beyond what a sample meets.
TYPED_TEST(RadixKeys, GentleDensity) {
    using Bits = bits_of<TypeParam>;
    if constexpr (sizeof(Bits) >= 4) {
        constexpr std::size_t n = sanitized ? 20001 : 100001;
        test::random_bits random(5);
        std::vector<TypeParam> keys(n);
        std::vector<ordered_number<Bits>> numbers;
        for (auto& key : keys) {
            const double u = static_cast<double>(random() >> 11) * 0x1p-53;
            const double v = static_cast<double>(random() >> 11) * 0x1p-53;
            if constexpr (std::is_integral_v<TypeParam>) {
                key = static_cast<TypeParam>(static_cast<Bits>(0x1p31 * (u + v))
                                             << (8 * sizeof(Bits) - 32));
            } else {
                key = static_cast<TypeParam>(u * v - 0.25);
            }
            const auto mapping = make_mapping(order_of<TypeParam>({}));
            numbers.push_back(mapping.to(std::bit_cast<Bits>(key)));
        }
        std::sort(numbers.begin(), numbers.end());
        const auto classes = plan_classes<Bits>(numbers, 64);
        ASSERT_TRUE(classes.segments.used);
        for (std::size_t b = 1; b < classes.bucket_count(); ++b) {
            ASSERT_EQ(classes.bucket(classes.lowest[b]), b);
            ASSERT_EQ(classes.bucket(static_cast<ordered_number<Bits>>(classes.lowest[b] - 1)),
                      b - 1);
        }
        const auto rare = test::generate<TypeParam>(distribution::specials, n / 500);
        for (std::size_t i = 0; i < rare.size(); ++i) keys[i * 499] = rare[i];
        for (const auto& order : orders_of<TypeParam>()) check(keys, {2, order, 0, 0, 1}, "gentle");
    }
}

// More values than are counted, too far apart to be near in any table.
TYPED_TEST(RadixKeys, DozensOfValuesFarApart) {
    const auto values = test::generate<TypeParam>(distribution::uniform, 50);
    test::random_bits random(9);
    std::vector<TypeParam> keys(sanitized ? 20001 : 200001);
    for (auto& key : keys) key = values[random() % values.size()];
    for (const auto& order : orders_of<TypeParam>()) check(keys, {2, order, 0, 0, 1}, "values");
}

// One stranger at either end of input that is otherwise in order.
TYPED_TEST(RadixKeys, AlmostInOrder) {
    constexpr std::size_t n = 40000;
    for (const auto shape : {distribution::sorted, distribution::reversed}) {
        for (const std::size_t at : {std::size_t{0}, std::size_t{1}, n / 2, n - 2, n - 1}) {
            auto keys = test::generate<TypeParam>(shape, n);
            std::swap(keys[at], keys[(at + n / 3) % n]);
            for (const auto& order : orders_of<TypeParam>()) {
                check(keys, {2, order, 0, 0, 0}, std::string(name_of(shape)));
            }
        }
    }
}

template <class Key>
class RadixKeyBits : public testing::Test {};
using integer_types = testing::Types<std::uint8_t, std::int16_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(RadixKeyBits, integer_types);

TYPED_TEST(RadixKeyBits, KeysEqualInTheRangeKeepTheirOrder) {
    constexpr int width = 8 * sizeof(TypeParam);
    for (const std::size_t n : {0, 1, 2, 100, 4097, 30003}) {
        const auto keys = test::generate<TypeParam>(distribution::uniform, n);
        for (const auto& [begin, end] : std::vector<std::pair<int, int>>{{0, 1},
                                                                         {0, width - 1},
                                                                         {1, width},
                                                                         {3, width / 2},
                                                                         {width - 1, width},
                                                                         {0, width}}) {
            for (const bool descending : {false, true}) {
                const std::string bits = std::to_string(begin) + ".." + std::to_string(end);
                check(keys, {2, {descending, false}, begin, end, 1}, "bits " + bits);
            }
        }
    }
}

// McIlroy, "A killer adversary for quicksort" (1999): keys are given their values while a sort
// compares them, so that its pivots are as bad as can be; here std::sort plays the victim.
std::vector<std::uint32_t> quicksort_killer(std::size_t n) {
    std::vector<std::uint32_t> value(n, static_cast<std::uint32_t>(n));
    std::vector<std::uint32_t> item(n);
    for (std::size_t i = 0; i < n; ++i) item[i] = static_cast<std::uint32_t>(i);
    std::uint32_t solid = 0;
    std::uint32_t candidate = 0;
    const auto gas = static_cast<std::uint32_t>(n);
    std::sort(item.begin(), item.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (value[a] == gas && value[b] == gas) value[a == candidate ? a : b] = solid++;
        if (value[a] == gas) candidate = a;
        if (value[b] == gas) candidate = b;
        return value[a] < value[b];
    });
    return value;
}

TEST(RadixKeysHostile, QuicksortKillersAndOrganPipes) {
    on_each_target([] {
        for (const std::size_t n : {10000, 200000}) {
            auto keys = quicksort_killer(n);
            check(keys, {2, {}, 0, 0, 0}, "quicksort killer");
            for (auto& key : keys) key ^= key << 13;
            check(keys, {2, {}, 0, 0, 0}, "scrambled killer");
            for (std::size_t i = 0; i < n; ++i) {
                keys[i] = static_cast<std::uint32_t>(std::min(i, n - i));
            }
            check(keys, {2, {}, 0, 0, 0}, "organ pipes");
        }
    });
}

TEST(RadixKeysHostile, HotBucketsInsideHotBuckets) {
    test::random_bits random(5);
    std::vector<std::uint64_t> keys(1500000);
    for (auto& key : keys) {
        // Each level holds most of the keys of the level above it.
        int level = 0;
        while (level < 60 && random() % 16 != 0) ++level;
        key = (~std::uint64_t{0} >> level) & random();
    }
    if constexpr (!sanitized) check(keys, {2, {}, 0, 0, 0}, "nested");
    for (std::size_t i = 0; i < keys.size(); i += 2) keys[i] = 77;
    check(keys, {2, {true, false}, 0, 0, 0}, "nested, half equal");
}

TEST(RadixKeysLarge, MoreThanTwoToThe31Bytes) {
    if (std::getenv("LOOKBACK_LARGE_TESTS") == nullptr) {
        GTEST_SKIP() << "set LOOKBACK_LARGE_TESTS=1 for 2^31+1 keys";
    }
    const std::size_t n = (std::size_t{1} << 31) + 1;
    executor executor(available_threads());
    host_pool pool;
    std::vector<std::uint8_t> keys(n);
    std::vector<std::size_t> count(256, 0);
    for (std::size_t i = 0; i < n; ++i) {
        keys[i] = static_cast<std::uint8_t>(i * 0x9e3779b97f4a7c15U >> 56);
        ++count[keys[i]];
    }
    sort_keys(executor, pool, std::span(keys), core::integer_order<std::uint8_t>{0}, 0, 8);
    std::size_t at = 0;
    for (std::size_t value = 0; value < 256; ++value) {
        for (const std::size_t end = at + count[value]; at < end; ++at) {
            ASSERT_EQ(keys[at], value) << at;
        }
    }
}

}  // namespace
}  // namespace lookback::cpu
