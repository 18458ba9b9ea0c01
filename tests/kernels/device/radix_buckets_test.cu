// Radix sort by buckets, whose blocks are cut so small that few keys need every level: shapes of
// buckets that sizes would not ask for, uneven keys, sizes from one tile to two.
#include "support/radix_keys.cuh"

namespace lookback::test {

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
        zoned_array<Key> keys(in, shift);
        zoned_array<Key> other(std::vector<Key>(in.size()), shift / 2);
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

}  // namespace
}  // namespace lookback::test
