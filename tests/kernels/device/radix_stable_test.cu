// Stable radix sort by buckets, of pairs and of an index, in numbers that would not ask for it.
#include "support/radix_keys.cuh"

namespace lookback::test {
namespace {

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
        zoned_array<Key> keys(in, round);
        zoned_array<Key> other(in, round);
        zoned_array<std::uint32_t> moved(values, round);
        zoned_array<std::uint32_t> other_values(values, round);
        const auto bits = [](const zoned_array<Key>& array) {
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

}  // namespace
}  // namespace lookback::test
