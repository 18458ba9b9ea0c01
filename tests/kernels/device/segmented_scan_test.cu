// The kernels of segmented scan and reduction against a plain loop: segments of every kind, sizes
// around every boundary, operators that do not commute, misaligned pointers, red zones, in place.
#include "support/device_array.cuh"
#include "support/reproducible_reference.hpp"
#include "support/scan_operators.cuh"
#include "support/segment_kinds.hpp"

#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/device/segmented_scan.cuh>

#include <cstring>

namespace lookback::test {
namespace {

using core::index_t;
using device::segmented_result;

constexpr int red_zone = 64;  // items before and after what a kernel may write
constexpr unsigned char poison = 0xC3;

template <class T>
struct plain_result {
    std::vector<T> items;
    std::vector<T> totals;
};

// Each segment by itself, by op, from its first item on; init precedes it where there is one.
template <class T, class Op>
plain_result<T> plain_loop(const std::vector<T>& in, const offset_list& offsets, bool exclusive,
                           std::optional<T> init, T empty, Op op) {
    plain_result<T> result;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        T running = init.value_or(Op::template identity<T>());
        for (auto i = static_cast<std::size_t>(offsets[s]);
             i < static_cast<std::size_t>(offsets[s + 1]); ++i) {
            const T before = running;
            running = op(running, in[i]);
            result.items.push_back(exclusive ? before : running);
        }
        result.totals.push_back(offsets[s] == offsets[s + 1] ? empty : running);
    }
    return result;
}

template <class T>
std::vector<T> poisoned(std::size_t size) {
    std::vector<T> items(size);
    if (size > 0) std::memset(static_cast<void*>(items.data()), poison, size * sizeof(T));
    return items;
}

// What lies at zone[red_zone + shift ...] must be `expected`, all else untouched.
template <class T>
bool only_expected(const device_array<T>& zone, std::size_t shift, const std::vector<T>& expected) {
    std::vector<T> whole = poisoned<T>(zone.size());
    std::copy(expected.begin(), expected.end(),
              whole.begin() + red_zone + static_cast<std::ptrdiff_t>(shift));
    const std::vector<T> found = zone.host();
    return std::memcmp(whole.data(), found.data(), whole.size() * sizeof(T)) == 0;
}

template <class Policy, class T, class Op>
class segmented_run {
public:
    segmented_run(std::size_t size, const offset_list& offsets)
        : size_(size),
          items_(size),
          list_(offsets),
          offsets_(offsets),
          bounds_(static_cast<std::size_t>(core::tile_shape{index(size), least_tile}.tiles() + 1)),
          memory_(device::scan_workspace_bytes<core::headed<T>>(index(size), least_tile)) {
        for (std::size_t i = 0; i < size; ++i) items_[i] = test_item<T>(i);
        workspace_ = {{memory_.data(), memory_.size(), nullptr}, bounds_.data()};
        require(device::prepare(workspace_.shared, nullptr), "prepare");
    }

    bool scan(bool exclusive, std::optional<T> init, bool in_place, std::size_t shift) {
        const auto expected = plain_loop(items_, list_, exclusive, init, T{}, Op{}).items;
        device_array<T> in(padded(items_, shift));
        device_array<T> out(poisoned<T>(size_ + 2 * red_zone + shift));
        const device_array<T>& target = in_place ? in : out;
        run<segmented_result::items>(in.data() + red_zone + shift, target.data() + red_zone + shift,
                                     exclusive, init, T{});
        return only_expected(target, shift, expected);
    }

    bool reduce(std::optional<T> init, T empty, std::size_t shift) {
        const auto expected = plain_loop(items_, list_, false, init, empty, Op{}).totals;
        device_array<T> in(padded(items_, shift));
        device_array<T> out(poisoned<T>(list_.size() - 1 + 2 * red_zone + shift));
        run<segmented_result::totals>(in.data() + red_zone + shift, out.data() + red_zone + shift,
                                      false, init, empty);
        return only_expected(out, shift, expected);
    }

    template <segmented_result Result>
    std::vector<T> results(std::size_t size, std::optional<T> init, T empty) {
        const device_array<T> in(items_);
        const device_array<T> out(size);
        run<Result>(in.data(), out.data(), false, init, empty);
        return out.host();
    }

private:
    static constexpr index_t least_tile =
        std::min<index_t>(device::segmented_tile_items<Policy, segmented_result::items, T>,
                          device::segmented_tile_items<Policy, segmented_result::totals, T>);
    static index_t index(std::size_t size) { return static_cast<index_t>(size); }
    static std::vector<T> padded(const std::vector<T>& items, std::size_t shift) {
        std::vector<T> all = poisoned<T>(items.size() + 2 * red_zone + shift);
        std::copy(items.begin(), items.end(),
                  all.begin() + red_zone + static_cast<std::ptrdiff_t>(shift));
        return all;
    }
    template <segmented_result Result>
    void run(const T* in, T* out, bool exclusive, std::optional<T> init, T empty) {
        const device::segmented_request<T> request{{in, out, index(size_), exclusive, init},
                                                   {offsets_.data(), index(list_.size() - 1)},
                                                   empty};
        require(device::segmented_under<Policy, Result>(workspace_, request, Op{}, nullptr),
                "launch");
        require(cudaDeviceSynchronize(), "run");
    }

    std::size_t size_;
    std::vector<T> items_;
    offset_list list_;
    device_array<index_t> offsets_;
    device_array<index_t> bounds_;
    device_array<unsigned char> memory_;
    device::segmented_workspace workspace_;
};

class SegmentedScan : public CudaTest {};

}  // namespace

// Two warps of one row, or of two strips of one row: 256 items of 4 bytes.
template <class Policy>
struct narrow_tiles : Policy {
    static constexpr int threads = 64;
    static constexpr int warps = 2;
    static constexpr int rows = 1;
    static constexpr int strips = 2;
    static constexpr int ring = 64;
};

namespace {

template <class Policy, class T, class Op>
void expect_all_forms(std::size_t size, const offset_list& offsets, T init, std::size_t turn) {
    segmented_run<Policy, T, Op> run(size, offsets);
    const bool bare = turn % 2 == 0;
    const std::optional<T> start = bare ? std::nullopt : std::optional<T>(init);
    const std::size_t shift = turn % 3 == 0 ? 1 : 0;
    const auto said = [&] {
        return testing::Message() << size << " items, " << offsets.size() - 1 << " segments, turn "
                                  << turn;
    };
    EXPECT_TRUE(run.scan(false, start, turn % 2 != 0, shift)) << said();
    EXPECT_TRUE(run.scan(true, start, turn % 4 == 0, shift)) << said();
    EXPECT_TRUE(run.reduce(start, init, shift)) << said();
}

template <class Policy, class T, class Op>
void expect_all_kinds(std::size_t size, T init) {
    std::size_t turn = size;
    for (const offset_list& offsets : kinds_of_offsets(size)) {
        expect_all_forms<Policy, T, Op>(size, offsets, init, ++turn);
    }
}

TEST_F(SegmentedScan, EverySizeInNarrowTiles) {
    using policy = narrow_tiles<tuning::segmented_policy<std::uint32_t>>;
    constexpr std::size_t tile = 256;
    for (const std::size_t size : fewer_if_sanitized(one_tile_to_two(tile), 16)) {
        const auto kinds = kinds_of_offsets(size);
        expect_all_forms<policy, std::uint32_t, core::plus>(size, kinds[size % kinds.size()], 77U,
                                                            size / 8);
    }
    for (const std::size_t size : boundary_sizes(tile)) {
        if (sanitized && size > 2 * tile) break;
        expect_all_kinds<policy, std::uint32_t, core::plus>(size, 5U);
        expect_all_kinds<narrow_tiles<tuning::segmented_totals<std::uint32_t>>, std::uint32_t,
                         core::plus>(size, 5U);
    }
}

TEST_F(SegmentedScan, ManyTiles) {
    constexpr std::size_t tiles = by_device(3000, 40, 5);
    using policy = narrow_tiles<tuning::segmented_policy<std::uint32_t>>;
    expect_all_kinds<policy, std::uint32_t, core::plus>(256 * tiles + 13, 9U);
    expect_all_kinds<tuning::segmented_policy<std::uint32_t>, std::uint32_t, core::plus>(
        8192 * by_device(100, 3, 1) + 13, 9U);
}

TEST_F(SegmentedScan, ManyTilesByStrips) {
    expect_all_kinds<tuning::segmented_totals<std::uint32_t>, std::uint32_t, core::plus>(
        4096 * by_device(200, 6, 2) + 13, 9U);
    expect_all_kinds<narrow_tiles<tuning::segmented_totals<std::uint32_t>>, std::uint32_t,
                     core::plus>(256 * by_device(3000, 40, 5) + 13, 9U);
}

// Three strips in shared memory at once, and fewer offsets than a strip has items.
struct three_stages : tuning::segmented_totals<std::uint32_t> {
    static constexpr int threads = 64;
    static constexpr int warps = 2;
    static constexpr int rows = 2;
    static constexpr int strips = 5;
    static constexpr int stages = 3;
    static constexpr int ring = 32;
};

TEST_F(SegmentedScan, ThreeStages) {
    for (const std::size_t size :
         {std::size_t{1279}, std::size_t{1280 * by_device(500, 9, 2) + 13}}) {
        expect_all_kinds<three_stages, std::uint32_t, core::plus>(size, 9U);
    }
}

// One head in a tile, in each of its rows and lanes in turn.
template <class Policy>
void expect_single_heads() {
    constexpr std::size_t tile = device::tile_geometry<Policy, std::uint32_t>::tile_items;
    constexpr std::size_t step = by_device(125, 509, 2045);
    for (std::size_t place = 0; place < tile; place += step) {
        const auto head = static_cast<std::int64_t>(tile + place);
        const offset_list offsets = {0, head, static_cast<std::int64_t>(2 * tile + 13)};
        expect_all_forms<Policy, std::uint32_t, core::plus>(2 * tile + 13, offsets, 9U, place);
    }
}

TEST_F(SegmentedScan, SingleHeads) {
    expect_single_heads<tuning::segmented_policy<std::uint32_t>>();
    expect_single_heads<tuning::segmented_totals<std::uint32_t>>();
}

template <class T, class Op>
void expect_all_kinds_by_both(std::size_t size, T init) {
    expect_all_kinds<tuning::segmented_policy<T>, T, Op>(size, init);
    expect_all_kinds<tuning::segmented_totals<T>, T, Op>(size, init);
}

TEST_F(SegmentedScan, OperatorsThatDoNotCommute) {
    expect_all_kinds<narrow_tiles<tuning::segmented_totals<affine>>, affine, compose>(
        by_device(100000, 1000, 300), affine{3, 4});
    expect_all_kinds_by_both<affine, compose>(by_device(100000, 2500, 500), affine{3, 4});
}

TEST_F(SegmentedScan, ItemsOfEveryWidth) {
    constexpr std::size_t bytes = by_device(3000000, 70001, 5001);
    expect_all_kinds_by_both<std::uint8_t, core::plus>(bytes, 3);
    expect_all_kinds_by_both<std::uint16_t, core::maximum>(bytes / 2, 3);
    expect_all_kinds_by_both<std::uint64_t, core::multiplies>(bytes / 8, 3);
}

// More offsets in one tile than it takes one by one: all equal, and in piles at many places.
TEST_F(SegmentedScan, CrowdsOfEmptySegments) {
    constexpr std::size_t size = 1000;
    constexpr std::size_t crowd = 3 * tuning::many_offsets + 17;
    for (const std::size_t place : {std::size_t{0}, std::size_t{300}, size}) {
        const auto offsets = crowded_offsets(size, place, crowd);
        expect_all_forms<narrow_tiles<tuning::segmented_policy<std::uint32_t>>, std::uint32_t,
                         core::plus>(size, offsets, 7U, place + 1);
    }
    offset_list piles = {0};
    for (std::int64_t place = 100; place < 400; ++place) {
        const std::size_t pile = place % 3 == 0 ? tuning::offset_chunk - 1 : 130;
        piles.insert(piles.end(), pile, place);
    }
    piles.push_back(size);
    expect_all_forms<narrow_tiles<tuning::segmented_policy<std::uint32_t>>, std::uint32_t,
                     core::plus>(size, piles, 7U, 1);
    expect_all_forms<narrow_tiles<tuning::segmented_totals<std::uint32_t>>, std::uint32_t,
                     core::plus>(size, piles, 7U, 1);
}

TEST_F(SegmentedScan, NoItems) {
    for (const std::size_t segments : {0U, 1U, 5000U}) {
        expect_all_forms<tuning::segmented_policy<std::uint32_t>, std::uint32_t, core::plus>(
            0, offset_list(segments + 1, 0), 7U, 2);
    }
}

// The tree, written out serially, on pairs of a value and a head.
TEST_F(SegmentedScan, ReproducibleSumsFollowTheTree) {
    using pair = core::headed<float>;
    const auto join = [](const pair& a, const pair& b) {
        return b.head != 0 ? b : pair{a.value + b.value, a.head};
    };
    const reproducible_reference<pair, decltype(join), sizeof(float)> tree(join);
    const auto size = by_device<std::size_t>(4000001, 30001, 13001);
    for (const offset_list& offsets : kinds_of_offsets(size)) {
        std::vector<pair> items(size);
        std::vector<float> values(size);
        for (std::size_t i = 0; i < size; ++i) items[i] = {values[i] = test_item<float>(i), 0};
        for (const std::int64_t offset : offsets) {
            if (offset < static_cast<std::int64_t>(size)) {
                items[static_cast<std::size_t>(offset)].head = 1;
            }
        }
        const std::vector<pair> expected = tree.scan(items, false, std::nullopt);
        std::vector<float> sums(size);
        for (std::size_t i = 0; i < size; ++i) sums[i] = 0.1F + expected[i].value;
        std::vector<float> totals;
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
            const bool empty = offsets[s] == offsets[s + 1];
            totals.push_back(empty ? 7.0F : sums[static_cast<std::size_t>(offsets[s + 1]) - 1]);
        }
        using policy = tuning::segmented_reproducible<float>;
        segmented_run<policy, float, core::plus> run(size, offsets);
        EXPECT_EQ(run.results<segmented_result::items>(size, 0.1F, 7.0F), sums);
        EXPECT_EQ(run.results<segmented_result::totals>(totals.size(), 0.1F, 7.0F), totals);
    }
}

#if !defined(LOOKBACK_EMULATED_DEVICE)  // which has no graphs
// A graph of one scan or reduction, replayed: items and offsets are what lies in its memory then.
template <class Policy, segmented_result Result>
void expect_replays() {
    using item = std::uint32_t;
    constexpr std::size_t size = 1000003;
    const auto kinds = kinds_of_offsets(size);
    std::size_t most = 0;
    for (const offset_list& offsets : kinds) most = std::max(most, offsets.size());
    const device_array<item> in(size);
    const device_array<item> out(std::max(size, most));
    const device_array<index_t> list(most);
    const device_array<index_t> bounds(
        static_cast<std::size_t>(device::segmented_bounds<item>(size)));
    const device_array<unsigned char> memory(device::segmented_workspace_bytes<item>(size));
    const device::segmented_workspace workspace{{memory.data(), memory.size(), nullptr},
                                                bounds.data()};
    require(device::prepare(workspace.shared, nullptr), "prepare");
    require(cudaDeviceSynchronize(), "prepare");
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    require(cudaStreamCreate(&stream), "stream");
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    const device::segmented_request<item> request{
        {in.data(), out.data(), size}, {list.data(), static_cast<index_t>(most) - 1}, 77};
    const cudaError_t status =
        device::segmented_under<Policy, Result>(workspace, request, core::plus{}, stream);
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(status, "segmented_under");
    require(cudaGraphInstantiate(&replay, graph, 0), "instantiate");
    for (std::size_t round = 0; round < kinds.size(); ++round) {
        std::vector<item> items(size);
        for (std::size_t i = 0; i < size; ++i) items[i] = test_item<item>(i + round);
        offset_list offsets = kinds[round];
        offsets.resize(most, static_cast<std::int64_t>(size));  // empty segments at the end
        require(cudaMemcpy(in.data(), items.data(), size * sizeof(item), cudaMemcpyDefault), "in");
        require(cudaMemcpy(list.data(), offsets.data(), most * sizeof(index_t), cudaMemcpyDefault),
                "offsets");
        require(cudaGraphLaunch(replay, stream), "replay");
        require(cudaGraphLaunch(replay, stream), "replay");
        require(cudaStreamSynchronize(stream), "replay");
        const auto expected =
            plain_loop<item>(items, offsets, false, std::nullopt, 77, core::plus{});
        const bool scan = Result == segmented_result::items;
        auto found = out.host();
        found.resize(scan ? size : most - 1);
        EXPECT_EQ(found, scan ? expected.items : expected.totals) << "kind " << round;
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

TEST_F(SegmentedScan, GraphsReplayWithoutReset) {
    expect_replays<tuning::segmented_policy<std::uint32_t>, segmented_result::items>();
    expect_replays<tuning::segmented_totals<std::uint32_t>, segmented_result::totals>();
}
#endif

TEST_F(SegmentedScan, FirstDecreaseIsFound) {
    offset_list offsets = offsets_by(10000, [](auto& random) { return random() % 4; });
    const auto found = [&] {
        const device_array<index_t> list(offsets);
        const device_array<device::offset_report> report(1);
        require(
            device::launch_check_offsets({list.data(), static_cast<index_t>(offsets.size()) - 1},
                                         report.data(), nullptr),
            "check_offsets");
        require(cudaDeviceSynchronize(), "check_offsets");
        const device::offset_report seen = report.host()[0];
        EXPECT_EQ(seen.first, offsets.front());
        EXPECT_EQ(seen.last, offsets.back());
        return seen.decrease;
    };
    EXPECT_EQ(found(), ~0ULL);
    for (const std::size_t place : {offsets.size() - 1, offsets.size() / 2, std::size_t{1}}) {
        offsets[place] = offsets[place - 1] - 1;
        EXPECT_EQ(found(), place);
    }
}

}  // namespace
}  // namespace lookback::test
