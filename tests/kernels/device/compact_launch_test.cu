// How compactions are launched: tiles that are late are helped, a workspace that is too small is
// refused, sizes past 2^31 and 2^32, replays of a graph.
#include "support/compact_rows.cuh"

namespace lookback::test {
namespace {

class CompactLaunch : public CudaTest {};

// Blocks of silent tiles do nothing in a first launch, and run in a second.
template <class P, class Rows, class Source>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    partial_compaction(const device::compact_arguments<Rows> args, const device::scan_words words,
                       const Source source, int every, int phase, bool run_silent) {
    __shared__ device::compact_shared<P> shared;
    const index_t tile = blockIdx.x;
    if ((tile % every == phase) != run_silent) return;
    device::compact_tile<P, Rows> own;
    own.load(args, tile, source);
    if (threadIdx.x == 0) shared.arrival = {7, 0};
    device::compact_loaded_tile(args, words.channel(args.tiles), tile, own, source, shared);
}

template <class P, class Source>
void expect_helped(std::size_t size, int every, int phase, std::vector<std::uint32_t> items,
                   const std::vector<std::uint32_t>& kept, Source source_of) {
    using rows = moved_items<std::uint32_t>;
    const zoned_array<std::uint32_t> in(items, 0);
    const zoned_array<std::uint32_t> out(kept.size(), 0);
    device_array<index_t> count(1);
    device_array<unsigned char> memory(
        device::scan_workspace_bytes<std::uint64_t>(static_cast<index_t>(size), 64));
    memory.fill_bytes(0);
    device_array<device::scan_counters> counters(1);
    counters.fill_bytes(0);
    const device::scan_workspace shared{memory.data(), memory.size(), counters.data()};
    const auto args = device::arguments_of<P>(
        device::compact_request<rows>{.rows = {in.data(), out.data(), nullptr},
                                      .items = static_cast<index_t>(size),
                                      .count = count.data()});
    const auto source = source_of(in.data());
    for (const bool run_silent : {false, true}) {
        require(arch::launch(partial_compaction<P, rows, std::decay_t<decltype(source)>>,
                             {static_cast<unsigned>(args.tiles), P::threads,
                              device::compact_shared_bytes<P, rows>},
                             nullptr, args, device::words_of<device::row_count<P>>(shared), source,
                             every, phase, run_silent),
                "launch");
        require(cudaDeviceSynchronize(), "run");
    }
    EXPECT_TRUE(out.holds(kept)) << "1 in " << every << ", phase " << phase;
    EXPECT_EQ(count.host()[0], static_cast<index_t>(kept.size()));
    index_t waited_for = 0;
    for (index_t tile = 0; tile + 1 < args.tiles; ++tile) waited_for += tile % every == phase;
    EXPECT_GE(counters.host()[0].insertions, static_cast<std::uint64_t>(waited_for));
}

TEST_F(CompactLaunch, SilentTilesAreHelped) {
    using window = narrow_window<4>;
    using group = narrow<tuning::small_compact>;
    const auto run = [](auto policy, std::size_t tiles, int every, int phase) {
        using P = decltype(policy);
        const std::size_t size = tiles * tile_items<P, std::uint32_t> + 5;
        std::vector<std::uint32_t> items(size);
        for (std::size_t i = 0; i < size; ++i) {
            items[i] = static_cast<std::uint32_t>(scramble(i) % 4);
        }
        std::vector<std::uint32_t> kept;
        std::copy_if(items.begin(), items.end(), std::back_inserter(kept),
                     [](std::uint32_t item) { return item % 3 == 0; });
        expect_helped<P>(size, every, phase, items, kept, [](const std::uint32_t*) {
            return device::rows_that<divides_by_three>{};
        });
        kept.clear();
        std::unique_copy(items.begin(), items.end(), std::back_inserter(kept));
        const auto order =
            core::make_key_order<std::uint32_t>(core::key_kind::unsigned_integer, false, false);
        expect_helped<P>(size, every, phase, items, kept, [&](const std::uint32_t* in) {
            return device::rows_that_differ<std::uint32_t>{order, in};
        });
    };
    for (const auto& [every, phase] : {std::pair{64, 0}, {32, 5}, {8, 7}, {2, 0}, {2, 1}}) {
        run(window{}, by_device(3000, 100, 40), every, phase);
        run(group{}, by_device(250, 100, 40), every, phase);
    }
}

TEST_F(CompactLaunch, TooSmallAWorkspaceIsRefused) {
    const device_array<unsigned char> memory(1024);
    const device::compact_request<moved_items<std::uint32_t>> request{.rows = {}, .items = 1 << 20};
    EXPECT_EQ(device::compact({memory.data(), memory.size(), nullptr}, request,
                              device::memory_flags{}, nullptr),
              cudaErrorInvalidValue);
}

#if !defined(LOOKBACK_EMULATED_DEVICE)
/// items[i] = low half of i: those below a value pass.
__global__ void fill_with_numbers(std::uint8_t* items, index_t n) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        items[i] = static_cast<std::uint8_t>(i % 251);
    }
}
__global__ void check_numbers(const std::uint8_t* kept, index_t n, unsigned long long* wrong) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        if (kept[i] != i % 250) atomicAdd(wrong, 1);
    }
}

// Of each 251 items the last does not pass; sizes that do not fit in 31 and 32 bits.
TEST_F(CompactLaunch, TwoToThe31AndMore) {
    for (const index_t n : {(index_t{1} << 31) + 1, (index_t{1} << 32) + 1}) {
        for (const bool in_place : {false, true}) {
            const auto size = static_cast<std::size_t>(n);
            const device_array<std::uint8_t> in(size);
            const device_array<std::uint8_t> out(in_place ? 0 : size);
            device_array<index_t> count(1);
            device_array<unsigned long long> wrong(1);
            wrong.fill_bytes(0);
            device_array<unsigned char> memory(device::compact_workspace_bytes(n));
            memory.fill_bytes(0);
            require(arch::launch(fill_with_numbers, {4096, 256}, nullptr, in.data(), n), "fill");
            std::uint8_t* const to = in_place ? in.data() : out.data();
            const auto order =
                core::make_key_order<std::uint8_t>(core::key_kind::unsigned_integer, false, false);
            require(device::compact({memory.data(), memory.size(), nullptr},
                                    device::compact_request<moved_items<std::uint8_t>>{
                                        .rows = {in.data(), to, nullptr},
                                        .items = n,
                                        .count = count.data(),
                                        .in_place = in_place},
                                    device::rows_in_range<std::uint8_t>{order, 0, 249}, nullptr),
                    "launch");
            const index_t kept = n / 251 * 250 + std::min<index_t>(n % 251, 250);
            require(arch::launch(check_numbers, {4096, 256}, nullptr, to, kept, wrong.data()),
                    "check");
            require(cudaDeviceSynchronize(), "run");
            EXPECT_EQ(count.host()[0], kept);
            EXPECT_EQ(wrong.host()[0], 0U);
        }
    }
}

TEST_F(CompactLaunch, ReplaysOfAGraph) {
    constexpr index_t n = 3000001;
    std::vector<std::uint32_t> items(n);
    std::vector<std::uint32_t> kept;
    for (index_t i = 0; i < n; ++i) {
        items[static_cast<std::size_t>(i)] = test_item<std::uint32_t>(i);
    }
    std::copy_if(items.begin(), items.end(), std::back_inserter(kept), divides_by_three{});
    const device_array<std::uint32_t> in(items);
    device_array<std::uint32_t> out(kept.size());
    device_array<index_t> count(1);
    const compact_memory memory(n);
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    require(cudaStreamCreate(&stream), "stream");
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    for (int i = 0; i < 2; ++i) {
        require(
            device::compact(
                memory.get(),
                device::compact_request<moved_items<std::uint32_t>>{
                    .rows = {in.data(), out.data(), nullptr}, .items = n, .count = count.data()},
                device::rows_that<divides_by_three>{}, stream),
            "launch");
    }
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
    for (int replay = 0; replay < 20; ++replay) {
        out.fill_bytes(zoned_array<std::uint32_t>::poison);
        require(cudaGraphLaunch(exec, stream), "replay");
        require(cudaStreamSynchronize(stream), "replay");
        ASSERT_TRUE(out.host() == kept) << "replay " << replay;
        ASSERT_EQ(count.host()[0], static_cast<index_t>(kept.size()));
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
#endif

}  // namespace
}  // namespace lookback::test
