// The radix sort kernels against std::stable_sort: every width, key type, direction and place of
// NaNs, values of each size, indices, parts of the bits, every shape of data, sizes around warps,
// blocks and tiles, red zones, and one workspace for sorts of many sizes.
#include "support/device_array.cuh"
#include "support/reference.hpp"

#include <lookback/kernels/device/radix_sort.cuh>

namespace lookback::test {
namespace {

using core::index_t;
using core::key_kind;

// Under AddressSanitizer one type a width: the others differ in the order of their keys alone, and
// each costs the compiler ten seconds.
#if defined(__SANITIZE_ADDRESS__)
using key_types = testing::Types<std::uint8_t, float16, std::int32_t, double>;
using integer_types = testing::Types<std::int16_t, std::uint32_t>;
using bucket_types = testing::Types<std::uint32_t, double>;
#else
using key_types =
    testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, float16, std::uint32_t,
                   std::int32_t, float, std::uint64_t, std::int64_t, double>;
using integer_types = testing::Types<std::uint8_t, std::int16_t, std::uint32_t, std::int64_t>;
using bucket_types = testing::Types<std::uint32_t, std::int32_t, float, std::uint64_t, double>;
#endif

constexpr int red_zone_items = 16;
constexpr unsigned char poison = 0xC3;

using device::wide_value;

template <class Key>
constexpr key_kind kind_of() {
    if constexpr (!std::is_integral_v<Key>) return key_kind::floating;
    return std::is_signed_v<Key> ? key_kind::signed_integer : key_kind::unsigned_integer;
}

template <class Key>
device::radix_order<bits_of<Key>> order_of(const sort_options& options) {
    device::radix_order<bits_of<Key>> order{core::make_key_order<bits_of<Key>>(
        kind_of<Key>(), options.order.descending, options.order.nan_first)};
    order.begin_bit = options.begin_bit;
    if (options.end_bit != 0) order.end_bit = options.end_bit;
    return order;
}

/// An array between red zones, `shift` items off alignment.
template <class T>
class guarded {
public:
    guarded(const std::vector<T>& items, int shift)
        : size_(items.size()),
          before_(red_zone_items + shift),
          zone_(size_ + before_ + red_zone_items) {
        zone_.fill_bytes(poison);
        if (size_ == 0) return;
        require(cudaMemcpy(data(), items.data(), size_ * sizeof(T), cudaMemcpyDefault), "upload");
    }
    T* data() const { return zone_.data() + before_; }
    /// The items, once both zones are found whole.
    std::vector<T> checked(const std::string& what) const {
        const std::vector<T> all = zone_.host();
        const auto* bytes = reinterpret_cast<const unsigned char*>(all.data());
        std::size_t bad = 0;
        for (std::size_t b = 0; b < all.size() * sizeof(T); ++b) {
            const bool inside = b >= before_ * sizeof(T) && b < (before_ + size_) * sizeof(T);
            bad += !inside && bytes[b] != poison;
        }
        EXPECT_EQ(bad, 0U) << what << ": red zone";
        return {all.begin() + static_cast<std::ptrdiff_t>(before_),
                all.begin() + static_cast<std::ptrdiff_t>(before_ + size_)};
    }

private:
    std::size_t size_;
    std::size_t before_;
    device_array<T> zone_;
};

template <class T>
T value_of(std::size_t i) {
    if constexpr (std::is_same_v<T, wide_value>) {
        return {i * 0x9e3779b97f4a7c15U, ~i};
    } else {
        return static_cast<T>(i * 0x9e3779b97f4a7c15U + 1);
    }
}

std::string describe(const std::string& what, std::size_t n, const sort_options& options) {
    return what + ", n = " + std::to_string(n) + (options.order.descending ? ", descending" : "") +
           (options.order.nan_first ? ", NaN first" : "") + ", bits " +
           std::to_string(options.begin_bit) + " to " + std::to_string(options.end_bit);
}

/// One workspace for all sorts of a test, never cleaned in between.
class Sorter {
public:
    explicit Sorter(std::size_t bytes) : memory_(bytes) {
        memory_.fill_bytes(0x5A);
        workspace_ = {memory_.data(), memory_.size()};
        require(device::prepare(workspace_, nullptr), "prepare");
    }

    template <class Key>
    void keys(const std::vector<Key>& in, const sort_options& options, const std::string& what,
              int shift = 0) {
        using Bits = bits_of<Key>;
        guarded<Key> sorted(in, shift);
        guarded<Key> other(std::vector<Key>(in.size()), shift);
        require(
            device::sort_keys(workspace_, as_bits<Bits>(sorted.data()), as_bits<Bits>(other.data()),
                              count(in), order_of<Key>(options), nullptr),
            "sort_keys");
        const std::string name = describe(what, in.size(), options);
        other.checked(name);
        expect_taken(sorted.checked(name), in, stable_order(std::span<const Key>(in), options),
                     name);
    }

    template <class Value, class Key>
    void pairs(const std::vector<Key>& in, const sort_options& options, const std::string& what) {
        using Bits = bits_of<Key>;
        std::vector<Value> values(in.size());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<Value>(i);
        guarded<Key> sorted(in, 0);
        guarded<Key> other(in, 0);
        guarded<Value> moved(values, 0);
        guarded<Value> other_values(values, 0);
        require(device::sort_pairs(workspace_, as_bits<Bits>(sorted.data()),
                                   as_bits<Bits>(other.data()), moved.data(), other_values.data(),
                                   count(in), order_of<Key>(options), nullptr),
                "sort_pairs");
        const std::string name = describe(what, in.size(), options);
        const auto order = stable_order(std::span<const Key>(in), options);
        other.checked(name);
        other_values.checked(name);
        expect_taken(sorted.checked(name), in, order, name + ", keys");
        expect_taken(moved.checked(name), values, order, name + ", values");
    }

    template <class Index, class Key>
    void index(const std::vector<Key>& in, const sort_options& options, const std::string& what) {
        using Bits = bits_of<Key>;
        guarded<Key> keys(in, 0);
        guarded<Key> first(in, 0);
        guarded<Key> second(in, 0);
        const std::vector<Index> room(in.size());
        guarded<Index> index(room, 0);
        guarded<Index> other(room, 0);
        require(device::argsort<Bits, Index>(
                    workspace_, as_bits<Bits>(keys.data()), as_bits<Bits>(first.data()),
                    as_bits<Bits>(second.data()), index.data(), other.data(), count(in),
                    order_of<Key>(options), nullptr),
                "argsort");
        const std::string name = describe(what, in.size(), options);
        const auto order = stable_order(std::span<const Key>(in), options);
        expect_index(index.checked(name), order, name);
        EXPECT_EQ(
            first_difference(std::span<const Key>(keys.checked(name)), std::span<const Key>(in)),
            in.size())
            << name << ": keys were written";
        require(device::sort_with_index<Bits, Index>(
                    workspace_, as_bits<Bits>(keys.data()), as_bits<Bits>(first.data()),
                    index.data(), other.data(), count(in), order_of<Key>(options), nullptr),
                "sort_with_index");
        expect_taken(keys.checked(name), in, order, name + ", sorted beside the index");
        expect_index(index.checked(name), order, name + ", beside sorted keys");
    }

private:
    template <class Bits, class Key>
    static Bits* as_bits(Key* keys) {
        return reinterpret_cast<Bits*>(keys);
    }
    template <class Key>
    static index_t count(const std::vector<Key>& in) {
        return static_cast<index_t>(in.size());
    }
    template <class Index>
    static void expect_index(const std::vector<Index>& got, const std::vector<std::int64_t>& order,
                             const std::string& name) {
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            wrong += got[i] != static_cast<Index>(order[i]);
        }
        EXPECT_EQ(wrong, 0U) << name;
    }
    template <class T>
    static void expect_taken(const std::vector<T>& got, const std::vector<T>& from,
                             const std::vector<std::int64_t>& order, const std::string& name) {
        const std::vector<T> expected = taken_by(std::span<const T>(from), order);
        EXPECT_EQ(first_difference(std::span<const T>(got), std::span<const T>(expected)),
                  expected.size())
            << name;
    }

    device_array<unsigned char> memory_;
    device::radix_workspace workspace_;
};

constexpr sort_options plain[] = {{{false, false}}, {{true, false}}};
constexpr sort_options with_nans[] = {
    {{false, false}}, {{true, false}}, {{false, true}}, {{true, true}}};

template <class Key>
std::span<const sort_options> orders_of() {
    if constexpr (std::is_integral_v<Key>) return plain;
    return with_nans;
}

constexpr std::size_t workspace_bytes = std::size_t{4} << 20;

template <class Key>
class RadixSort : public CudaTest {};
TYPED_TEST_SUITE(RadixSort, key_types);

TYPED_TEST(RadixSort, EveryShapeAndOrder) {
    Sorter sorter(workspace_bytes);
    const std::size_t n = by_device(30011, 7001, 1501);
    for (const auto shape : all_distributions) {
        const auto keys = generate<TypeParam>(shape, n);
        for (const auto& options : orders_of<TypeParam>()) {
            sorter.keys(keys, options, std::string(name_of(shape)));
        }
    }
}

TYPED_TEST(RadixSort, ValuesAndIndices) {
    Sorter sorter(workspace_bytes);
    // Of one block, and of several.
    const std::size_t sizes[] = {by_device(3011, 701, 301), by_device(20011, 4507, 4203)};
    int which = 0;
    for (const auto shape : all_distributions) {
        const std::string name(name_of(shape));
        for (const std::size_t n : sizes) {
            const auto keys = generate<TypeParam>(shape, n);
            const auto orders = orders_of<TypeParam>();
            const auto number = static_cast<std::size_t>(which++);
            const sort_options& options = orders[number % orders.size()];
            // The emulated device has time for one of them.
            const auto chosen = [&](std::size_t choice) {
                return !emulated_device || number % 5 == choice;
            };
            if (chosen(0)) sorter.pairs<std::uint32_t>(keys, options, name + ", 4 bytes");
            if (chosen(1)) sorter.pairs<std::uint64_t>(keys, options, name + ", 8 bytes");
            if (chosen(2)) sorter.pairs<wide_value>(keys, options, name + ", 16 bytes");
            if (chosen(3)) sorter.index<std::uint32_t>(keys, options, name + ", u32 index");
            if (chosen(4)) sorter.index<std::uint64_t>(keys, options, name + ", u64 index");
        }
    }
}

TYPED_TEST(RadixSort, SizesAroundBoundaries) {
    Sorter sorter(workspace_bytes);
    using policy = tuning::radix_policy<bits_of<TypeParam>, tuning::no_value>;
    auto sizes = boundary_sizes(policy::tile_items, by_device(7, 4, 1));
    sizes = fewer_if_sanitized(sizes, 7);
    for (const std::size_t n : sizes) {
        const auto keys = generate<TypeParam>(distribution::uniform, n, n + 1);
        sorter.keys(keys, plain[n % 2], "uniform", static_cast<int>(n % 3));
    }
}

template <class Key>
class RadixSortBits : public CudaTest {};
TYPED_TEST_SUITE(RadixSortBits, integer_types);

TYPED_TEST(RadixSortBits, KeysEqualInTheRangeKeepTheirOrder) {
    Sorter sorter(workspace_bytes);
    constexpr int width = 8 * sizeof(TypeParam);
    const auto keys = generate<TypeParam>(distribution::uniform, by_device(30003, 5003, 1003));
    for (const auto& [begin, end] : std::vector<std::pair<int, int>>{
             {0, 1}, {0, width - 1}, {1, width}, {3, width / 2}, {width - 1, width}}) {
        for (const bool descending : {false, true}) {
            const sort_options options{{descending, false}, begin, end};
            sorter.keys(keys, options, "bits");
            sorter.index<std::uint32_t>(keys, options, "bits, index");
        }
    }
}

}  // namespace

/// Blocks so small that keys in numbers that the emulated device can do need every level.
template <class Key, bool GroupsApart>
struct small_cut {
    using partition = tuning::partition_tile_policy<Key, 256, sizeof(Key) <= 4 ? 1 : 2, 1>;
    using bucket = tuning::window_policy<Key, 128, 4, 9, 1>;
    using group = tuning::window_policy<Key, 256, 4, 10, 1>;
    using uneven_partition = tuning::partition_tile_policy<Key, 256, 1, 1>;
    static constexpr bool groups_apart = GroupsApart;
};

namespace {

/// Sorts that use one workspace, one after the other.
template <class Key>
class BucketSorter {
public:
    using Bits = bits_of<Key>;
    // Both ways to sort groups, each for some types.
    using launches = device::bucket_launches<Bits, small_cut<Bits, sizeof(Bits) == 4>>;

    explicit BucketSorter(std::size_t most)
        : memory_(launches::layout_of(static_cast<index_t>(most)).bytes) {
        memory_.fill_bytes(0x5A);
        workspace_ = {memory_.data(), memory_.size()};
        require(device::prepare(workspace_, nullptr), "prepare");
    }

    /// Buckets of a shape that n need not ask for.
    void sort(const std::vector<Key>& in, device::bucket_shape shape, const std::string& what,
              const sort_options& options = {}, int shift = 0) {
        const auto n = static_cast<index_t>(in.size());
        guarded<Key> keys(in, shift);
        guarded<Key> other(std::vector<Key>(in.size()), shift / 2);
        auto* bits = reinterpret_cast<Bits*>(keys.data());
        auto* other_bits = reinterpret_cast<Bits*>(other.data());
        const auto order = order_of<Key>(options);
        require(launches(workspace_, bits, other_bits, n, shape, order.order, nullptr).run(),
                "bucket_launches");
        const auto& part = *static_cast<device::radix_fixed_part*>(workspace_.memory);
        if (order.order.floating) {
            require(device::sort_by_passes<Bits, tuning::no_value>(
                        workspace_, {bits, bits, other_bits, nullptr, nullptr}, n, order,
                        device::radix_result::in_place, nullptr, &part.header.by_passes),
                    "sort_by_passes");
        }
        const std::string name = describe(what, in.size(), options) + ", " +
                                 std::to_string(shape.bits) + " bits of buckets";
        other.checked(name);
        std::vector<Key> expected(in);
        std::stable_sort(expected.begin(), expected.end(),
                         [&](Key a, Key b) { return stands_before(a, b, options); });
        EXPECT_EQ(first_difference(std::span<const Key>(keys.checked(name)),
                                   std::span<const Key>(expected)),
                  expected.size())
            << name;
    }

private:
    device_array<unsigned char> memory_;
    device::radix_workspace workspace_;
};

template <class Key>
class RadixSortBuckets : public CudaTest {};
TYPED_TEST_SUITE(RadixSortBuckets, bucket_types);

TYPED_TEST(RadixSortBuckets, EveryShape) {
    const std::size_t n = by_device(70001, 13001, 7001);
    BucketSorter<TypeParam> sorter(n);
    int number = 0;
    for (const auto shape : all_distributions) {
        const auto keys = generate<TypeParam>(shape, n);
        ++number;
        int which = 0;
        for (const auto buckets : {device::bucket_shape{8, 4}, {4, 4}, {7, 3}, {1, 1}}) {
            // The emulated device has time for one of them.
            if (emulated_device && which++ != number % 4) continue;
            const auto& options = orders_of<TypeParam>()[static_cast<std::size_t>(number) % 2];
            sorter.sort(keys, buckets, std::string(name_of(shape)), options, number % 4);
        }
    }
}

/// Keys of few bits, of many that agree, of some that lie far from all others.
template <class Key>
std::vector<std::pair<std::string, std::vector<Key>>> uneven_keys(std::size_t n) {
    std::vector<std::pair<std::string, std::vector<Key>>> all;
    random_bits random(7);
    constexpr int width = 8 * sizeof(Key);
    const auto add = [&](const char* name, auto make) {
        std::vector<Key> keys(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t bits = make(i);
            if constexpr (std::is_integral_v<Key>) {
                keys[i] = static_cast<Key>(bits);
            } else {
                keys[i] = narrow<Key>(static_cast<double>(bits >> 12));
            }
        }
        all.emplace_back(name, std::move(keys));
    };
    add("20 bits", [&](std::size_t) { return random() & 0xfffffU; });
    add("3 bits", [&](std::size_t) { return random() & 7U; });
    add("five ANDs",
        [&](std::size_t) { return random() & random() & random() & random() & random(); });
    add("90 % one value", [&](std::size_t) { return random() % 10 != 0 ? 12345 : random(); });
    add("small, some far away",
        [&](std::size_t i) { return i % 4099 == 17 ? ~std::uint64_t{i} : random() & 0xffffU; });
    add("around zero", [&](std::size_t) { return (random() & 0x3ffU) - 512; });
    add("high and low bits",
        [&](std::size_t) { return (random() & 15U) << (width - 4) | (random() & 0xffU); });
    add("one of each power", [&](std::size_t) { return random() >> random() % 64; });
    add("steps", [&](std::size_t i) { return std::uint64_t{i} / 700 * 1000003; });
    return all;
}

TYPED_TEST(RadixSortBuckets, UnevenKeys) {
    const std::size_t n = by_device(70003, 9001, 6007);
    BucketSorter<TypeParam> sorter(n);
    int number = 0;
    for (const auto& [name, keys] : uneven_keys<TypeParam>(n)) {
        ++number;
        sorter.sort(keys, number % 2 == 0 ? device::bucket_shape{5, 3} : device::bucket_shape{3, 3},
                    name, {}, number % 3);
    }
}

TYPED_TEST(RadixSortBuckets, ManyLongRunsOfNeighbours) {
    // Keys that agree in the bits by which bins are made, and differ below.
    const std::size_t n = by_device(70001, 9001, 7001);
    BucketSorter<TypeParam> sorter(n);
    random_bits random(5);
    std::vector<TypeParam> keys(n);
    for (const std::uint64_t tops : {7U, 300U, 3000U}) {
        for (auto& key : keys) {
            const std::uint64_t bits = random() % tops * 0x9e3779b97f4a7c15U ^ random() % 512;
            key = narrow<TypeParam>(static_cast<double>(bits >> 1));
            if constexpr (std::is_integral_v<TypeParam>) {
                key = static_cast<TypeParam>((bits & 511) | bits >> 20 << 12);
            }
        }
        sorter.sort(keys, {4, 4}, "runs");
    }
}

TYPED_TEST(RadixSortBuckets, EverySizeFromOneTileToTwo) {
    using cut = small_cut<bits_of<TypeParam>, true>;
    constexpr int tile = cut::partition::tile_items;
    BucketSorter<TypeParam> sorter(std::size_t{2} * tile);
    for (const std::size_t n :
         one_tile_to_two(tile, static_cast<std::size_t>(by_device(13, 211, 401)))) {
        if (n == 0) continue;  // sort_keys() returns before
        const auto keys = generate<TypeParam>(distribution::zipf, n, n + 1);
        sorter.sort(keys, {3, 2}, "zipf", {}, static_cast<int>(n % 4));
    }
}

TYPED_TEST(RadixSortBuckets, ManyKeys) {
    if (emulated_device) GTEST_SKIP() << "too many for the emulated device";
    Sorter sorter(std::size_t{64} << 20);
    const std::size_t n = (std::size_t{1} << 20) + 12345;
    for (const auto shape : {distribution::uniform, distribution::zipf, distribution::specials}) {
        const auto keys = generate<TypeParam>(shape, n);
        sorter.keys(keys, {}, std::string(name_of(shape)));
        sorter.pairs<std::uint32_t>(keys, {}, std::string(name_of(shape)));
    }
    // One partition in small tiles, and two.
    for (const std::size_t many : {(std::size_t{1} << 20) - 727, (std::size_t{3} << 19) + 5}) {
        for (const auto& [name, keys] : uneven_keys<TypeParam>(many)) sorter.keys(keys, {}, name);
    }
}

/// Stable buckets at sizes that the emulated device can do; twice, with one workspace.
template <class Key>
void sort_by_stable_buckets(const std::vector<Key>& in, device::bucket_shape shape, bool index,
                            const std::string& what) {
    using Bits = bits_of<Key>;
    const auto n = static_cast<index_t>(in.size());
    device_array<unsigned char> memory(device::radix_workspace_bytes<Bits, std::uint32_t>(n));
    memory.fill_bytes(0x5A);
    const device::radix_workspace workspace{memory.data(), memory.size()};
    require(device::prepare(workspace, nullptr), "prepare");
    std::vector<std::uint32_t> values(in.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of<std::uint32_t>(i);
    device::radix_shape sort{};
    sort.items = n;
    sort.places = sizeof(Key);
    sort.end_bit = 8 * sizeof(Key);
    sort.in_place = true;
    sort.makes_index = index;
    const auto order = stable_order(std::span<const Key>(in), sort_options{});
    for (int round = 0; round < 2; ++round) {
        guarded<Key> keys(in, round);
        guarded<Key> other(in, round);
        guarded<std::uint32_t> moved(values, round);
        guarded<std::uint32_t> other_values(values, round);
        const auto bits = [](const guarded<Key>& array) {
            return reinterpret_cast<Bits*>(array.data());
        };
        require(
            device::stable_launches<Bits, std::uint32_t>(
                workspace, {bits(keys), bits(keys), bits(other), moved.data(), other_values.data()},
                sort, order_of<Key>({}), shape, nullptr)
                .run(),
            "stable_launches");
        const std::string name = what + ", " + std::to_string(shape.bits) +
                                 " bits of buckets, n = " + std::to_string(in.size());
        other.checked(name);
        other_values.checked(name);
        const auto sorted = keys.checked(name);
        const auto expected = taken_by(std::span<const Key>(in), order);
        EXPECT_EQ(first_difference(std::span<const Key>(sorted), std::span<const Key>(expected)),
                  in.size())
            << name << ", keys";
        const auto got = moved.checked(name);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            const auto from = static_cast<std::size_t>(order[i]);
            wrong += got[i] != (index ? static_cast<std::uint32_t>(from) : values[from]);
        }
        EXPECT_EQ(wrong, 0U) << name << (index ? ", index" : ", values");
    }
}

template <class Key>
class RadixSortStable : public CudaTest {};
TYPED_TEST_SUITE(RadixSortStable, bucket_types);

TYPED_TEST(RadixSortStable, EveryShape) {
    const std::size_t n = by_device(70001, 13001, 7001);
    int number = 0;
    for (const auto shape : all_distributions) {
        const auto keys = generate<TypeParam>(shape, n);
        ++number;
        int which = 0;
        for (const auto buckets : {device::bucket_shape{8, 8}, {4, 4}, {9, 5}, {12, 6}}) {
            // The emulated device has time for one of them.
            if (emulated_device && which++ != number % 4) continue;
            sort_by_stable_buckets(keys, buckets, number % 3 == 0, std::string(name_of(shape)));
        }
    }
}

TYPED_TEST(RadixSortStable, RunsThatAgreeInTheTopBits) {
    const std::size_t n = by_device(40001, 9001, 5001);
    random_bits random(7);
    std::vector<TypeParam> keys(n);
    // Few runs, many, and runs too long to be sorted by a thread each.
    for (const std::uint64_t tops : {50000U, 1500U, 20U}) {
        for (auto& key : keys) {
            const std::uint64_t bits = (random() % tops) * 0x9e3779b97f4a7c15U >> 40;
            key = narrow<TypeParam>(static_cast<double>(bits));
            if constexpr (std::is_integral_v<TypeParam>) {
                constexpr int width = 8 * sizeof(TypeParam);
                key = static_cast<TypeParam>(bits << (width - 24) ^ random() % 8);
            }
        }
        sort_by_stable_buckets(keys, {4, 4}, false, "runs");
    }
}

class RadixSortTiles : public CudaTest {};

TEST_F(RadixSortTiles, EverySizeFromOneTileToTwo) {
    Sorter sorter(workspace_bytes);
    using policy = tuning::one_tile_policy<std::uint64_t, std::uint64_t>;
    for (const std::size_t n :
         one_tile_to_two(policy::tile_items, static_cast<std::size_t>(by_device(37, 1501, 4001)))) {
        const auto keys = generate<std::uint64_t>(distribution::skewed_exponents, n, n + 1);
        sorter.pairs<std::uint64_t>(keys, plain[n % 2], "skewed");
    }
}

TEST_F(RadixSortTiles, SeveralTilesOfAPass) {
    Sorter sorter(workspace_bytes);
    using policy = tuning::radix_policy<std::uint32_t, std::uint32_t>;
    for (const int tiles : {2, by_device(7, 4, 2)}) {
        const auto n = static_cast<std::size_t>(tiles * policy::tile_items + 77);
        for (const auto shape : {distribution::uniform, distribution::zipf}) {
            const auto keys = generate<std::uint32_t>(shape, n);
            sorter.pairs<std::uint32_t>(keys, plain[tiles % 2], std::string(name_of(shape)));
        }
    }
}

#if !defined(LOOKBACK_EMULATED_DEVICE)
// One captured sort, replayed: the workspace is as good as new each time.
TEST_F(RadixSortTiles, GraphsCanBeReplayed) {
    constexpr std::size_t n = 300007;
    device_array<unsigned char> memory(workspace_bytes);
    const device::radix_workspace workspace{memory.data(), memory.size()};
    cudaStream_t stream = nullptr;
    require(cudaStreamCreate(&stream), "stream");
    require(device::prepare(workspace, stream), "prepare");
    device_array<std::uint32_t> keys(n);
    device_array<std::uint32_t> other(n);
    device_array<std::uint32_t> pair_keys(n);
    device_array<std::uint32_t> values(n);
    device_array<std::uint32_t> other_values(n);
    const auto order = order_of<std::uint32_t>({});
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    const auto count = static_cast<index_t>(n);
    require(device::sort_keys(workspace, keys.data(), other.data(), count, order, stream), "keys");
    require(device::sort_pairs(workspace, pair_keys.data(), other.data(), values.data(),
                               other_values.data(), count, order, stream),
            "pairs");
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(cudaGraphInstantiate(&replay, graph, 0), "instantiate");
    for (const auto shape :
         {distribution::uniform, distribution::zipf, distribution::sorted, distribution::uniform}) {
        const auto in = generate<std::uint32_t>(shape, n);
        std::vector<std::uint32_t> positions(n);
        std::iota(positions.begin(), positions.end(), 0U);
        for (auto* to : {keys.data(), pair_keys.data()}) {
            require(cudaMemcpy(to, in.data(), n * sizeof(in[0]), cudaMemcpyDefault), "upload");
        }
        require(cudaMemcpy(values.data(), positions.data(), n * sizeof(in[0]), cudaMemcpyDefault),
                "upload");
        require(cudaGraphLaunch(replay, stream), "replay");
        require(cudaStreamSynchronize(stream), "replay");
        const auto expected = stable_order(std::span<const std::uint32_t>(in), sort_options{});
        EXPECT_TRUE(keys.host() == taken_by(std::span<const std::uint32_t>(in), expected))
            << name_of(shape);
        EXPECT_TRUE(values.host() == std::vector<std::uint32_t>(expected.begin(), expected.end()))
            << name_of(shape);
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
#endif

TEST_F(RadixSortTiles, WorkspacesOfMoreItemsServeFewer) {
    std::size_t before = 0;
    for (index_t n = 1; n < index_t{1} << 32; n += n / 3 + 1) {
        const std::size_t bytes = device::radix_workspace_bytes<std::uint32_t, tuning::no_value>(n);
        EXPECT_GE(bytes, before) << n;
        before = bytes;
    }
}

TEST_F(RadixSortTiles, SmallWorkspaceIsRefused) {
    device_array<std::uint32_t> keys(100);
    device_array<unsigned char> memory(256);
    EXPECT_EQ(cudaErrorInvalidValue,
              device::sort_keys<std::uint32_t>(
                  {memory.data(), memory.size()}, keys.data(), keys.data(), 100,
                  {core::make_key_order<std::uint32_t>(key_kind::unsigned_integer, false, false)},
                  nullptr));
}

}  // namespace
}  // namespace lookback::test
