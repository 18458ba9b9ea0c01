// The radix sort kernels against std::stable_sort: every width, key type, direction and place of
// NaNs, values of each size, indices, parts of the bits, every shape of data, sizes around warps,
// blocks and tiles, red zones, and one workspace for sorts of many sizes.
#include "support/radix_keys.cuh"

namespace lookback::test {
namespace {

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
        zoned_array<Key> sorted(in, shift);
        zoned_array<Key> other(std::vector<Key>(in.size()), shift);
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
        zoned_array<Key> sorted(in, 0);
        zoned_array<Key> other(in, 0);
        zoned_array<Value> moved(values, 0);
        zoned_array<Value> other_values(values, 0);
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
        zoned_array<Key> keys(in, 0);
        zoned_array<Key> first(in, 0);
        zoned_array<Key> second(in, 0);
        const std::vector<Index> room(in.size());
        zoned_array<Index> index(room, 0);
        zoned_array<Index> other(room, 0);
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

template <class Key>
class RadixSortMany : public CudaTest {};
TYPED_TEST_SUITE(RadixSortMany, bucket_types);

TYPED_TEST(RadixSortMany, Keys) {
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
