// Stable compaction on a GPU against std::copy_if and std::unique: every source of marks, sizes
// around every boundary, shares from none to all, random and in runs, misaligned pointers, red
// zones, in place.
#include "support/compact_rows.cuh"

namespace lookback::test {
namespace {

struct how {
    bool bits = false;
    bool in_place = false;
    bool rest = false;
    bool inverted = false;
    std::size_t shift = 0;
};

template <class P, class T>
void expect_compacts(std::size_t size, share kind, how way) {
    rows_and_flags<T> rows(size, kind);
    if (way.inverted) std::swap(rows.kept, rows.rest);
    const zoned_array<T> in(rows.items, way.shift);
    const zoned_array<T> out(way.in_place ? 0 : rows.kept.size(), way.shift + 3);
    const zoned_array<T> rest(way.rest ? rows.rest.size() : 0, way.shift + 1);
    const zoned_array<std::uint8_t> bytes(rows.bytes, way.shift);
    const device_array<std::uint32_t> words(rows.words);
    const compact_memory memory(size);
    device_array<index_t> count(1);
    const T* const from = in.data();
    T* const to = way.in_place ? in.data() : out.data();
    const device::compact_request<moved_items<T>> request{
        .rows = {from, to, way.rest ? rest.data() : nullptr},
        .items = static_cast<index_t>(size),
        .count = count.data(),
        .inverted = way.inverted,
        .in_place = way.in_place};
    const void* flags = bytes.data();
    if (way.bits) flags = words.data();
    require(device::compact_under<P>(memory.get(), request, device::memory_flags{flags, way.bits},
                                     nullptr),
            "launch");
    require(cudaDeviceSynchronize(), "run");
    EXPECT_EQ(count.host()[0], static_cast<index_t>(rows.kept.size()));
    if (way.in_place) {
        EXPECT_TRUE(in.holds(rows.kept, rows.items));
    } else {
        EXPECT_TRUE(out.holds(rows.kept));
        EXPECT_TRUE(in.holds(rows.items));
    }
    if (way.rest) {
        EXPECT_TRUE(rest.holds(rows.rest));
    }
}

class Compact : public CudaTest {};

template <class P, class T>
void expect_all_sizes() {
    constexpr std::size_t tile = tile_items<P, T>;
    std::vector<std::size_t> sizes = boundary_sizes(tile, 40);
    const auto more = one_tile_to_two(tile, by_device(1, 5, 37));
    sizes.insert(sizes.end(), more.begin(), more.end());
    int turn = 0;
    for (const std::size_t size : sizes) {
        const share kind = shares[turn++ % std::size(shares)];
        SCOPED_TRACE(testing::Message() << size << " rows of " << sizeof(T) << " bytes, "
                                        << kind.percent << (kind.clustered ? " % in runs" : " %"));
        const how way{.bits = turn % 2 == 0,
                      .in_place = turn % 3 == 0,
                      .rest = turn % 5 < 2,
                      .inverted = turn % 7 == 0,
                      .shift = static_cast<std::size_t>(turn % 4 == 0 ? turn % 16 : 0)};
        expect_compacts<P, T>(size, kind, way);
        if (testing::Test::HasFailure()) return;
    }
}

TEST_F(Compact, EverySizeOfBytes) {
    expect_all_sizes<narrow_window<1>, std::uint8_t>();
}
TEST_F(Compact, EverySizeOfShorts) {
    expect_all_sizes<narrow_window<2>, std::uint16_t>();
}
TEST_F(Compact, EverySizeOfWords) {
    expect_all_sizes<narrow_window<4>, std::uint32_t>();
    expect_all_sizes<narrow<tuning::small_compact>, std::uint32_t>();
}
TEST_F(Compact, EverySizeOfDoubleWords) {
    expect_all_sizes<narrow_window<8>, std::uint64_t>();
}
TEST_F(Compact, EverySizeOfVectors) {
    expect_all_sizes<narrow_window<16>, uint4>();
}

/// As it is called: every policy as it is cut, every share.
template <class T>
void expect_real_tiles() {
    using policies = device::policies_for<moved_items<T>, device::memory_flags>;
    constexpr std::size_t large = tile_items<typename policies::large, T>;
    constexpr std::size_t middle = tile_items<typename policies::middle, T>;
    constexpr std::size_t small = tile_items<typename policies::small, T>;
    int turn = 0;
    for (const share kind : shares) {
        SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, " << kind.percent
                                        << (kind.clustered ? " % in runs" : " %"));
        const how way{.bits = turn % 2 == 0, .in_place = turn % 3 == 1, .rest = turn % 5 == 0};
        if (emulated_device && turn++ % 3 != 0) continue;
        expect_compacts<typename policies::large, T>(
            by_device<std::size_t>(1000003, 3 * large - 5, large + 5), kind, way);
        expect_compacts<typename policies::middle, T>(
            by_device<std::size_t>(200 * middle - 77, 2 * middle - 77, middle + 3), kind, way);
        expect_compacts<typename policies::small, T>(
            by_device<std::size_t>(100 * small + 33, 5 * small + 33, small + 33), kind, way);
    }
}

TEST_F(Compact, TilesAsTheyAreCut) {
    expect_real_tiles<std::uint8_t>();
    expect_real_tiles<std::uint16_t>();
    expect_real_tiles<std::uint32_t>();
    expect_real_tiles<std::uint64_t>();
    expect_real_tiles<uint4>();
}

/// The rows that a source of the rows themselves lets pass.
template <class P, class T, class Source>
void expect_kept(const std::vector<T>& items, const std::vector<T>& kept, bool in_place,
                 bool inverted, Source source_of) {
    const zoned_array<T> in(items, 0);
    const zoned_array<T> out(in_place ? 0 : kept.size(), 0);
    const compact_memory memory(items.size());
    device_array<index_t> count(1);
    const device::compact_request<moved_items<T>> request{
        .rows = {in.data(), in_place ? in.data() : out.data(), nullptr},
        .items = static_cast<index_t>(items.size()),
        .count = count.data(),
        .inverted = inverted,
        .in_place = in_place};
    require(device::compact_under<P>(memory.get(), request, source_of(in.data()), nullptr),
            "launch");
    require(cudaDeviceSynchronize(), "run");
    EXPECT_EQ(count.host()[0], static_cast<index_t>(kept.size())) << items.size() << " rows";
    const bool right = in_place ? in.holds(kept, items) : out.holds(kept);
    EXPECT_TRUE(right) << items.size() << " rows" << (in_place ? " in place" : "");
}

TEST_F(Compact, APredicate) {
    using policy = narrow_window<4>;
    for (const std::size_t size : boundary_sizes(tile_items<policy, std::uint32_t>, 40)) {
        std::vector<std::uint32_t> items(size);
        for (std::size_t i = 0; i < size; ++i) items[i] = test_item<std::uint32_t>(i);
        std::vector<std::uint32_t> kept;
        std::copy_if(items.begin(), items.end(), std::back_inserter(kept), divides_by_three{});
        for (const bool in_place : {false, true}) {
            expect_kept<policy>(items, kept, in_place, false, [](const std::uint32_t*) {
                return device::rows_that<divides_by_three>{};
            });
        }
    }
}

TEST_F(Compact, ARangeOfNumbers) {
    using policy = narrow_window<2>;
    const auto order =
        core::make_key_order<std::uint16_t>(core::key_kind::signed_integer, false, false);
    for (const std::size_t size : boundary_sizes(tile_items<policy, std::uint16_t>, 9)) {
        std::vector<std::uint16_t> items(size);
        std::vector<std::uint16_t> kept;
        for (std::size_t i = 0; i < size; ++i) items[i] = test_item<std::uint16_t>(i);
        const auto outside = [](std::uint16_t bits) {
            const auto item = static_cast<std::int16_t>(bits);
            return item < -1000 || item > 9000;
        };
        std::copy_if(items.begin(), items.end(), std::back_inserter(kept), outside);
        expect_kept<policy>(items, kept, false, true, [&](const std::uint16_t*) {
            return device::rows_in_range<std::uint16_t>{
                order, order(static_cast<std::uint16_t>(-1000)), 10000};
        });
    }
}

template <class P, class T>
void expect_unique(std::size_t size, std::uint64_t run) {
    std::vector<T> items(size);
    for (std::size_t i = 0; i < size; ++i) {
        items[i] = static_cast<T>(scramble(i / run) % 3 + scramble(i) % 16 / 15);
    }
    std::vector<T> kept;
    std::unique_copy(items.begin(), items.end(), std::back_inserter(kept));
    const auto order =
        core::make_key_order<T>(core::key_kind::unsigned_integer, size % 2 == 0, false);
    for (const bool in_place : {false, true}) {
        expect_kept<P>(items, kept, in_place, false, [&](const T* in) {
            return device::rows_that_differ<T>{order, in};
        });
    }
}

TEST_F(Compact, Unique) {
    for (const std::size_t size : boundary_sizes(tile_items<narrow_window<4>, std::uint32_t>, 40)) {
        expect_unique<narrow_window<4>, std::uint32_t>(size, 1);
        expect_unique<narrow_window<4>, std::uint32_t>(size, 400);
    }
    for (const std::size_t size : boundary_sizes(tile_items<narrow_window<1>, std::uint8_t>, 3)) {
        expect_unique<narrow_window<1>, std::uint8_t>(size, 5);
    }
    using large = tuning::large_compact<8>;
    expect_unique<large, std::uint64_t>(
        by_device<std::size_t>(1000003, 2 * tile_items<large, std::uint64_t> + 9, 9000), 3);
}

}  // namespace
}  // namespace lookback::test
