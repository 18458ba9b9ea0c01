// The scan kernels: every strategy, at sizes around every boundary, with operators that do not
// commute, misaligned pointers, dirty workspaces and red zones; 2^31 and 2^32 items by formula.
#include "support/device_array.cuh"
#include "support/scan_operators.cuh"

#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/device/scan.cuh>

namespace lookback::test {
namespace {

using core::index_t;
using device::scan_request;
using device::scan_strategy;

constexpr scan_strategy strategies[] = {scan_strategy::single,       scan_strategy::three_launch,
                                        scan_strategy::grid_barrier, scan_strategy::lookback,
                                        scan_strategy::bounded,      scan_strategy::fallback};

constexpr const char* name_of(scan_strategy strategy) {
    constexpr const char* names[] = {"automatic", "single",  "three_launch", "grid_barrier",
                                     "lookback",  "bounded", "fallback"};
    return names[static_cast<int>(strategy)];
}

constexpr index_t least_tile = 64;  // items, of any policy in this file
constexpr int red_zone = 64;
constexpr unsigned char poison = 0xC3;

struct mismatch {
    unsigned long long count;
    unsigned long long size;  // of the scan in which the last one was seen
    unsigned long long item;
};

template <class T>
__device__ bool same_bytes(const T& a, const unsigned char* b) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&a);
    for (unsigned i = 0; i < sizeof(T); ++i) {
        if (bytes[i] != b[i]) return false;
    }
    return true;
}

// Compares out[0, n) with what is expected, looks at both red zones, and poisons everything again.
template <class T>
__global__ void check(T* zone, int shift, index_t n, const T* expected, mismatch* found) {
    const index_t total = n + 2 * red_zone + shift;
    for (index_t i = blockIdx.x * blockDim.x + threadIdx.x; i < total;
         i += index_t{gridDim.x} * blockDim.x) {
        const index_t item = i - red_zone - shift;
        auto* bytes = reinterpret_cast<unsigned char*>(zone + i);
        bool good = true;
        if (item >= 0 && item < n) {
            good = same_bytes(expected[item], bytes);
        } else {
            for (unsigned b = 0; b < sizeof(T); ++b) good = good && bytes[b] == poison;
        }
        if (!good) {
            atomicAdd(&found->count, 1);
            found->size = n;
            found->item = item;
        }
        for (unsigned b = 0; b < sizeof(T); ++b) bytes[b] = poison;
    }
}

template <class T>
__global__ void copy_items(const T* from, T* to, index_t n) {
    for (index_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        to[i] = from[i];
    }
}

template <class T>
std::vector<T> make_items(index_t n) {
    std::vector<T> items(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = test_item<T>(i);
    return items;
}

template <class T, class Op>
std::vector<T> reference(const std::vector<T>& in, Op op, bool exclusive, std::optional<T> init) {
    std::vector<T> out(in.size());
    std::optional<T> running = init;
    if constexpr (device::preceding<T, Op>::has_identity) {
        if (!running) running = Op::template identity<T>();
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
        const T next = running ? op(*running, in[i]) : in[i];
        out[i] = exclusive ? *running : next;
        running = next;
    }
    return out;
}

// Arrays for scans of up to `most` items, checked on the device.
template <class T, class Op>
class Bench {
public:
    Bench(index_t most, bool exclusive, std::optional<T> init)
        : exclusive_(exclusive),
          init_(init),
          in_(make_items<T>(most)),
          expected_(reference(make_items<T>(most), Op{}, exclusive, init)),
          moved_in_(static_cast<std::size_t>(most) + 16),
          zone_(static_cast<std::size_t>(most) + 2 * red_zone + 16),
          memory_(device::scan_workspace_bytes<T>(most, least_tile)),
          found_(1) {
        zone_.fill_bytes(poison);
        memory_.fill_bytes(0x5A);
        found_.fill_bytes(0);
        workspace_ = {memory_.data(), memory_.size(), nullptr};
        require(device::prepare(workspace_, nullptr), "prepare");
    }

    // One scan of the first n items; pointers `shift_in` and `shift_out` items off alignment.
    void run(scan_strategy strategy, index_t n, bool in_place, int shift_in = 0,
             int shift_out = 0) {
        run_by(
            [&](const scan_request<T>& request) {
                return device::scan_by(strategy, workspace_, request, Op{}, nullptr);
            },
            n, in_place, shift_in, shift_out);
    }
    // The same by scan(request).
    template <class Scan>
    void run_by(const Scan& scan, index_t n, bool in_place, int shift_in = 0, int shift_out = 0) {
        T* out = zone_.data() + red_zone + shift_out;
        const T* in = in_.data();
        if (in_place || shift_in != 0) {
            T* moved = in_place ? out : moved_in_.data() + shift_in;
            if (n > 0) {
                require(arch::launch(copy_items<T>, {by_device(64U, 2U, 1U), 256}, nullptr,
                                     in_.data(), moved, n),
                        "copy_items");
            }
            in = moved;
        }
        require(scan(scan_request<T>{in, out, n, exclusive_, init_}), "scan");
        const unsigned blocks = n < 4096 ? 1 : by_device(264U, 2U, 1U);
        require(arch::launch(check<T>, {blocks, 256}, nullptr, zone_.data(), shift_out, n,
                             expected_.data(), found_.data()),
                "check");
    }

    void expect_right(scan_strategy strategy) { expect_right(name_of(strategy)); }
    void expect_right(const char* name) {
        require(cudaDeviceSynchronize(), "run");
        const mismatch found = found_.host()[0];
        EXPECT_EQ(found.count, 0U)
            << name << ", n = " << found.size << ", item " << static_cast<long long>(found.item)
            << (exclusive_ ? ", exclusive" : ", inclusive") << (init_ ? ", init" : "");
        found_.fill_bytes(0);
    }

    const device::scan_workspace& workspace() const { return workspace_; }

private:
    bool exclusive_;
    std::optional<T> init_;
    device_array<T> in_;
    device_array<T> expected_;
    device_array<T> moved_in_;
    device_array<T> zone_;
    device_array<unsigned char> memory_;
    device_array<mismatch> found_;
    device::scan_workspace workspace_;
};

class Scan : public CudaTest {};

constexpr index_t many = by_device<index_t>(1000003, 30001, 12289);
constexpr index_t odd_sizes[] = {0,    1,    2,    31,   32,   33,       127,
                                 1000, 1024, 8191, 8192, 8193, many / 2, many};

template <class T, class Op>
void every_strategy_at_odd_sizes(bool exclusive, std::optional<T> init) {
    Bench<T, Op> bench(many, exclusive, init);
    for (const scan_strategy strategy : strategies) {
        // On the emulated device every third, or every fourth; the last one always.
        for (std::size_t i = by_device(0, 1, 1); i < std::size(odd_sizes);
             i += by_device(1, 3, 4)) {
            const index_t n = odd_sizes[i];
            bench.run(strategy, n, false);
            bench.run(strategy, n, true);
            bench.run(strategy, n, false, 1, 0);
            bench.run(strategy, n, false, 3, 1);
            bench.run(strategy, n, true, 0, 1);
        }
        bench.expect_right(strategy);
    }
}

TEST_F(Scan, EverySizeFromOneTileToTwo) {
    // The largest tile of any strategy, in items.
    constexpr index_t tile =
        device::tile_geometry<tuning::fallback_scan<std::uint32_t>, std::uint32_t>::tile_items;
    Bench<std::uint32_t, core::plus> inclusive(2 * tile + 1, false, std::nullopt);
    Bench<std::uint32_t, core::plus> exclusive(2 * tile + 1, true, 77U);
    constexpr index_t step = by_device<index_t>(1, 1021, 6131);
    for (const scan_strategy strategy : strategies) {
        for (index_t n = 0; n <= 2 * tile + 1; n += step) {
            inclusive.run(strategy, n, n % 2 == 0);
            if (n % 7 == 0) exclusive.run(strategy, n, n % 3 == 0);
        }
        inclusive.expect_right(strategy);
        exclusive.expect_right(strategy);
    }
}

// Tiles of 256 items: every size from none to two tiles, on whichever device.
template <class Policy>
struct narrow_tile : Policy {
    static constexpr int threads = 64;
    static constexpr int warps = 2;
    static constexpr int rows = 1;
    static constexpr int blocks_per_sm = 1;
};

template <class Policy>
void every_size_in_narrow_tiles(const char* name) {
    using policy = narrow_tile<Policy>;
    constexpr index_t tile = device::tile_geometry<policy, std::uint32_t>::tile_items;
    Bench<std::uint32_t, core::plus> bench(3 * tile, true, 77U);
    const auto scan = [&](const scan_request<std::uint32_t>& request) {
        return device::scan_under<policy>(bench.workspace(), request, core::plus{}, nullptr);
    };
    constexpr index_t step = by_device<index_t>(1, 1, 7);
    for (index_t n = 0; n <= 2 * tile + 1; n += step) bench.run_by(scan, n, n % 2 == 0);
    for (int shift = 1; shift < 4; ++shift)
        bench.run_by(scan, 3 * tile - 3, false, shift, 4 - shift);
    bench.expect_right(name);
}

TEST_F(Scan, EverySizeInNarrowTiles) {
    every_size_in_narrow_tiles<tuning::fallback_scan<std::uint32_t>>("fallback");
    every_size_in_narrow_tiles<tuning::ticket_scan<std::uint32_t>>("lookback");
    every_size_in_narrow_tiles<tuning::bounded_scan<std::uint32_t>>("bounded");
}

TEST_F(Scan, SumsOfEveryWidth) {
    every_strategy_at_odd_sizes<std::uint32_t, core::plus>(true, std::nullopt);
    every_strategy_at_odd_sizes<std::uint8_t, core::plus>(false, std::uint8_t{9});
    every_strategy_at_odd_sizes<std::uint64_t, core::plus>(true, 5ULL << 40);
}

TEST_F(Scan, OperatorsThatDoNotCommute) {
    // Without an identity: the first item stands alone.
    every_strategy_at_odd_sizes<brackets, bicyclic>(false, std::nullopt);
    every_strategy_at_odd_sizes<brackets, bicyclic>(true, brackets{3, 4});
    every_strategy_at_odd_sizes<affine, compose>(true, std::nullopt);
}

// Small enough for a checker that slows kernels down a thousandfold.
TEST_F(Scan, AFewTiles) {
    Bench<std::uint32_t, core::plus> sums(40001, false, std::nullopt);
    Bench<affine, compose> maps(10001, true, std::nullopt);
    for (const scan_strategy strategy : strategies) {
        sums.run(strategy, 40001, true);
        sums.expect_right(strategy);
        maps.run(strategy, 10001, false, 0, 1);
        maps.expect_right(strategy);
    }
}

TEST_F(Scan, ExclusiveWithoutIdentityAndInitIsRefused) {
    Bench<brackets, bicyclic> bench(100, true, brackets{0, 0});
    device_array<brackets> items(100);
    EXPECT_EQ(cudaErrorInvalidValue,
              device::scan(bench.workspace(),
                           scan_request<brackets>{items.data(), items.data(), 100, true},
                           bicyclic{}, nullptr));
}

TEST_F(Scan, SmallWorkspaceIsRefused) {
    device_array<unsigned char> memory(device::scan_workspace_bytes<std::uint32_t>(1000));
    device_array<std::uint32_t> items(std::size_t{1} << 24);
    const device::scan_workspace workspace{memory.data(), memory.size(), nullptr};
    EXPECT_EQ(
        cudaErrorInvalidValue,
        device::scan(workspace, scan_request<std::uint32_t>{items.data(), items.data(), 1 << 24},
                     core::plus{}, nullptr));
}

// Item i is 2 i + 1, so the inclusive sum is (i + 1)^2, modulo the width.
template <class T>
__global__ void fill_odd(T* items, index_t n) {
    for (index_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        items[i] = static_cast<T>(2 * i + 1);
    }
}
template <class T>
__global__ void count_not_square(const T* items, index_t n, unsigned long long* wrong) {
    for (index_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        const auto square = static_cast<std::uint64_t>(i + 1) * static_cast<std::uint64_t>(i + 1);
        if (items[i] != static_cast<T>(square)) atomicAdd(wrong, 1);
    }
}

template <class T>
void squares_in_place(index_t n, scan_strategy strategy) {
    device_array<T> items(static_cast<std::size_t>(n));
    device_array<unsigned char> memory(device::scan_workspace_bytes<T>(n));
    device_array<unsigned long long> wrong(1);
    wrong.fill_bytes(0);
    const device::scan_workspace workspace{memory.data(), memory.size(), nullptr};
    require(device::prepare(workspace, nullptr), "prepare");
    require(arch::launch(fill_odd<T>, {2048, 256}, nullptr, items.data(), n), "fill_odd");
    require(device::scan_by(strategy, workspace, scan_request<T>{items.data(), items.data(), n},
                            core::plus{}, nullptr),
            "scan_by");
    require(arch::launch(count_not_square<T>, {2048, 256}, nullptr, items.data(), n, wrong.data()),
            "count_not_square");
    EXPECT_EQ(wrong.host()[0], 0U) << name_of(strategy) << ", n = " << n;
}

TEST_F(Scan, MoreThanTwoToThe31And32) {
    if constexpr (emulated_device) GTEST_SKIP() << "too large for the emulated device";
    for (const index_t n :
         {(index_t{1} << 31) - 1, (index_t{1} << 31) + 1, (index_t{1} << 32) + 1}) {
        for (const scan_strategy strategy : strategies) {
            squares_in_place<std::uint8_t>(n, strategy);
            squares_in_place<std::uint32_t>(n, strategy);
        }
        squares_in_place<std::uint64_t>(n, scan_strategy::automatic);
    }
}

TEST_F(Scan, ManySizesAndTypesShareOneWorkspace) {
    // Words of other types, sizes and epochs lie about; every launch has an epoch of its own.
    constexpr index_t most = by_device(1 << 20, 1 << 16, 1 << 14);
    Bench<std::uint32_t, core::plus> bench(most, false, std::nullopt);
    device_array<affine> others(make_items<affine>(most / 4));
    for (int round = 0; round < by_device(300, 60, 20); ++round) {
        const index_t n = 1 + static_cast<index_t>(scramble(round) % most);
        const scan_strategy strategy = strategies[scramble(round + 1000) % 6];
        bench.run(strategy, n, round % 2 == 0);
        require(device::scan(bench.workspace(),
                             scan_request<affine>{others.data(), others.data(), 1 + n / 32},
                             compose{}, nullptr),
                "scan");
    }
    bench.expect_right(scan_strategy::automatic);
}

#if !defined(LOOKBACK_EMULATED_DEVICE)  // which has no graphs
TEST_F(Scan, GraphsReplayWithoutReset) {
    constexpr index_t n = 3000001;
    const auto items = make_items<std::uint32_t>(n);
    for (const scan_strategy strategy : {scan_strategy::fallback, scan_strategy::lookback,
                                         scan_strategy::bounded, scan_strategy::three_launch}) {
        device_array<std::uint32_t> array(items);
        device_array<unsigned char> memory(device::scan_workspace_bytes<std::uint32_t>(n));
        const device::scan_workspace workspace{memory.data(), memory.size(), nullptr};
        require(device::prepare(workspace, nullptr), "prepare");
        require(cudaDeviceSynchronize(), "prepare");
        cudaStream_t stream = nullptr;
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t replay = nullptr;
        require(cudaStreamCreate(&stream), "stream");
        require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        require(device::scan_by(strategy, workspace,
                                scan_request<std::uint32_t>{array.data(), array.data(), n},
                                core::plus{}, stream),
                "scan_by");
        require(cudaStreamEndCapture(stream, &graph), "capture");
        require(cudaGraphInstantiate(&replay, graph, 0), "instantiate");
        auto expected = items;
        for (int round = 0; round < 5; ++round) {
            require(cudaGraphLaunch(replay, stream), "replay");
            expected = reference(expected, core::plus{}, false, std::optional<std::uint32_t>{});
        }
        require(cudaStreamSynchronize(stream), "replay");
        EXPECT_EQ(array.host(), expected) << name_of(strategy);
        cudaGraphExecDestroy(replay);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
    }
}
#endif

}  // namespace
}  // namespace lookback::test
