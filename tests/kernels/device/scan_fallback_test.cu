// Helping: scans in which some blocks never run in a first launch, and run in a second. All others
// must finish without them, and all results be right.
#include "support/device_array.cuh"
#include "support/scan_operators.cuh"

#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/device/scan.cuh>

namespace lookback::test {
namespace {

using core::index_t;

// Tiles with tile % every == phase are silent.
struct silent_tiles {
    int every;
    int phase;
    __host__ __device__ bool silent(index_t tile) const { return tile % every == phase; }
};

template <class P, class T, class Op>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    partial_scan(device::scan_arguments<T> args, device::scan_words words, Op op,
                 std::uint32_t epoch, silent_tiles silence, bool run_silent) {
    __shared__ device::scan_shared<P, T> shared;
    uint4* turning = device::turning_of_warp<P, T>();
    const index_t tile = blockIdx.x;
    if (silence.silent(tile) != run_silent) return;
    device::scan_tile<P, T, Op> items;
    items.load(args, tile, turning);
    if (threadIdx.x == 0) shared.arrival = {epoch, 0};
    device::scan_loaded_tile<P, T>(args, words.channel(args.tiles), tile, items, shared, turning,
                                   op);
}

template <class P, class T, class Op>
void expect_right_in_two_launches(index_t n, silent_tiles silence, bool in_place) {
    std::vector<T> items(static_cast<std::size_t>(n));
    std::vector<T> expected(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i] = test_item<T>(i);
        expected[i] = i == 0 ? items[0] : Op{}(expected[i - 1], items[i]);
    }
    device_array<T> in(items);
    device_array<T> out(items.size());
    device_array<unsigned char> memory(
        device::scan_workspace_bytes<T>(n, device::tile_geometry<P, T>::tile_items));
    device_array<device::scan_counters> counters(1);
    counters.fill_bytes(0);
    const device::scan_workspace workspace{memory.data(), memory.size(), counters.data()};
    require(device::prepare(workspace, nullptr), "prepare");
    T* target = in_place ? in.data() : out.data();
    auto args = device::arguments_of(device::scan_request<T>{in.data(), target, n});
    args.tiles = core::tile_shape{n, device::tile_geometry<P, T>::tile_items}.tiles();
    const auto words = device::words_of<T>(workspace);
    const auto blocks = static_cast<unsigned>(args.tiles);
    for (const bool run_silent : {false, true}) {
        require(
            arch::launch(partial_scan<P, T, Op>, {blocks, P::threads, device::staged_bytes<P, T>},
                         nullptr, args, words, Op{}, std::uint32_t{7}, silence, run_silent),
            "partial_scan");
        require(cudaDeviceSynchronize(), "partial_scan");
    }
    std::vector<T> result = in_place ? in.host() : out.host();
    EXPECT_TRUE(result == expected) << "1 in " << silence.every << ", phase " << silence.phase;
    index_t waited_for = 0;
    for (index_t tile = 0; tile + 1 < args.tiles; ++tile) waited_for += silence.silent(tile);
    const device::scan_counters seen = counters.host()[0];
    if constexpr (P::walk == tuning::scan_walk::window) {
        // On the emulated device, where blocks start in any order, tiles that are late are helped
        // too.
        EXPECT_GE(seen.insertions, static_cast<std::uint64_t>(waited_for));
        if (!emulated_device) {
            EXPECT_EQ(seen.insertions, static_cast<std::uint64_t>(waited_for));
        }
    }
    EXPECT_GE(seen.fallbacks, seen.insertions);
    EXPECT_GE(seen.polls, seen.fallbacks);
    std::printf("  1 in %3d silent: polls %llu, fallbacks %llu, insertions %llu, tiles %lld\n",
                silence.every, static_cast<unsigned long long>(seen.polls),
                static_cast<unsigned long long>(seen.fallbacks),
                static_cast<unsigned long long>(seen.insertions),
                static_cast<long long>(args.tiles));
}

class ScanFallback : public CudaTest {};

// Items of so many bytes, on a GPU; few tiles on the emulated device.
constexpr index_t items_of(index_t gpu, index_t tile_items, index_t tiles) {
    return by_device(gpu, tiles * tile_items + 5, tiles / 2 * tile_items + 5);
}
template <class P, class T>
constexpr index_t tile_items = device::tile_geometry<P, T>::tile_items;

constexpr silent_tiles silences[] = {{512, 0}, {512, 511}, {64, 0}, {32, 5},
                                     {8, 7},   {3, 1},     {2, 0},  {2, 1}};

TEST_F(ScanFallback, SilentTilesAreHelped) {
    using policy = tuning::fallback_scan<std::uint32_t>;
    constexpr index_t n = items_of((1 << 23) + 5, tile_items<policy, std::uint32_t>, 12);
    for (const silent_tiles silence : silences) {
        expect_right_in_two_launches<policy, std::uint32_t, core::plus>(n, silence, false);
    }
}

TEST_F(ScanFallback, InPlace) {
    using narrow = tuning::fallback_scan<std::uint32_t>;
    using wide = tuning::fallback_scan<std::uint64_t>;
    expect_right_in_two_launches<narrow, std::uint32_t, core::plus>(
        items_of((1 << 23) + 5, tile_items<narrow, std::uint32_t>, 12), {8, 0}, true);
    expect_right_in_two_launches<wide, std::uint64_t, core::plus>(
        items_of((1 << 22) + 5, tile_items<wide, std::uint64_t>, 12), {2, 0}, true);
}

TEST_F(ScanFallback, OperatorsThatDoNotCommute) {
    using policy = tuning::in_order<tuning::fallback_scan<brackets>, brackets>;
    using wider = tuning::in_order<tuning::fallback_scan<affine>, affine>;
    expect_right_in_two_launches<policy, brackets, bicyclic>(
        items_of((1 << 22) + 5, tile_items<policy, brackets>, 12), {8, 0}, false);
    expect_right_in_two_launches<wider, affine, compose>(
        items_of((1 << 21) + 5, tile_items<wider, affine>, 12), {3, 0}, false);
}

// Tiles so small that the emulated device gets through three groups of them.
struct one_warp_groups : tuning::in_order<tuning::bounded_scan<std::uint32_t>, std::uint32_t> {
    static constexpr int threads = 32;
    static constexpr int warps = 1;
    static constexpr int rows = 1;
};

TEST_F(ScanFallback, GroupsAreHelped) {
    // More than two groups of 256 tiles; phase 255 of 256 silences the tile that ends each group.
    constexpr index_t tiles = by_device(1000, 600, 300);
    for (const silent_tiles silence : {silent_tiles{256, 255}, {512, 0}, {8, 7}, {2, 1}}) {
        expect_right_in_two_launches<one_warp_groups, std::uint32_t, core::plus>(
            tiles * tile_items<one_warp_groups, std::uint32_t> + 5, silence, false);
    }
#if !defined(LOOKBACK_EMULATED_DEVICE)  // which would take minutes
    using policy = tuning::in_order<tuning::bounded_scan<std::uint32_t>, std::uint32_t>;
    for (const silent_tiles silence : {silent_tiles{256, 255}, {512, 0}, {8, 7}, {2, 1}}) {
        expect_right_in_two_launches<policy, std::uint32_t, core::plus>((1 << 24) + 5, silence,
                                                                        false);
    }
#endif
}

}  // namespace
}  // namespace lookback::test
