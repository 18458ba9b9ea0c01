// The emulated device itself: threads, barriers, warp operations, shared memory, cooperative grids;
// and each fault that it must find: a barrier or a warp operation without some of its threads,
// shared memory that is read before it is written, a wait without end, trust in the order of
// blocks.
#include <lookback/kernels/arch/lane.cuh>
#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/arch/memory.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <cooperative_groups.h>
#include <gtest/gtest.h>

namespace lookback::test {
namespace {

class EmulatedDevice : public testing::Test {
protected:
    void SetUp() override { emulated::device() = {}; }
    void TearDown() override {
        emulated::device() = {};
        cudaGetLastError();
    }

    template <class... Parameters>
    static std::string fault_of(const arch::grid& shape, void (*kernel)(Parameters...),
                                std::type_identity_t<Parameters>... arguments) {
        EXPECT_EQ(arch::launch(kernel, shape, nullptr, arguments...), cudaErrorLaunchFailure);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
        return emulated::take_fault();
    }
};

bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

__global__ void reverse_block(const int* in, int* out) {
    __shared__ int shared[100];
    const unsigned at = blockIdx.x * blockDim.x;
    shared[threadIdx.x] = in[at + threadIdx.x];
    __syncthreads();
    out[at + threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

TEST_F(EmulatedDevice, BlocksShareMemoryAndMeetAtBarriers) {
    std::vector<int> in(5000);
    std::iota(in.begin(), in.end(), 0);
    std::vector<int> out(in.size());
    ASSERT_EQ(arch::launch(reverse_block, {50, 100}, nullptr, in.data(), out.data()), cudaSuccess);
    for (int i = 0; i < 5000; ++i) {
        ASSERT_EQ(out[static_cast<std::size_t>(i)], i / 100 * 100 + 99 - i % 100);
    }
}

__global__ void warp_operations(std::uint64_t* out) {
    const unsigned lane = threadIdx.x % 32;
    std::uint64_t* to = out + threadIdx.x * 16;
    to[0] = __shfl_sync(~0U, lane * 10, 31 - static_cast<int>(lane));
    to[1] = __shfl_up_sync(~0U, lane, 3);
    to[2] = __shfl_down_sync(~0U, lane, 5);
    to[3] = __shfl_xor_sync(~0U, std::uint64_t{lane} << 40, 6) >> 40;
    to[4] = __ballot_sync(~0U, lane % 3 == 0);
    to[5] = __match_any_sync(~0U, lane % 4);
    to[6] = __reduce_add_sync(~0U, lane);
    to[7] = __reduce_max_sync(~0U, lane ^ 21);
    to[8] = __shfl_up_sync(~0U, lane, 1, 8);
    to[9] = static_cast<std::uint64_t>(__any_sync(~0U, lane == 7));
    to[10] = static_cast<std::uint64_t>(__all_sync(~0U, lane != 7));
    // Two halves on their own ways.
    to[11] = lane < 16 ? __ballot_sync(0x0000ffff, lane % 2 == 0)
                       : __ballot_sync(0xffff0000, lane % 2 == 1);
    to[12] = static_cast<std::uint64_t>(__syncthreads_count(lane < 5));
    to[13] = static_cast<std::uint64_t>(__syncthreads_or(threadIdx.x == 40));
    to[14] = static_cast<std::uint64_t>(__syncthreads_and(threadIdx.x != 40));
}

TEST_F(EmulatedDevice, WarpOperationsAreCudas) {
    std::vector<std::uint64_t> out(64 * 16);
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        emulated::device().seed = seed;
        ASSERT_EQ(arch::launch(warp_operations, {1, 64}, nullptr, out.data()), cudaSuccess);
        for (std::uint64_t thread = 0; thread < 64; ++thread) {
            const std::uint64_t lane = thread % 32;
            const std::uint64_t* got = &out[thread * 16];
            EXPECT_EQ(got[0], (31 - lane) * 10);
            EXPECT_EQ(got[1], lane < 3 ? lane : lane - 3);
            EXPECT_EQ(got[2], lane + 5 < 32 ? lane + 5 : lane);
            EXPECT_EQ(got[3], lane ^ 6);
            EXPECT_EQ(got[4], 0x49249249U);
            EXPECT_EQ(got[5], 0x11111111U << lane % 4);
            EXPECT_EQ(got[6], 496U);
            EXPECT_EQ(got[7], 31U);
            EXPECT_EQ(got[8], lane % 8 == 0 ? lane : lane - 1);
            EXPECT_EQ(got[9], 1U);
            EXPECT_EQ(got[10], 0U);
            EXPECT_EQ(got[11], lane < 16 ? 0x5555U : 0xaaaa0000U);
            EXPECT_EQ(got[12], 10U);
            EXPECT_EQ(got[13], 1U);
            EXPECT_EQ(got[14], 0U);
        }
    }
}

__global__ void add_dynamic(unsigned* total) {
    auto* values = static_cast<unsigned*>(arch::dynamic_shared());
    values[threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < blockDim.x; ++i) sum += values[i];
        atomicAdd(total, sum);
    }
}

TEST_F(EmulatedDevice, DynamicSharedMemoryAndAtomics) {
    unsigned total = 0;
    ASSERT_EQ(arch::launch(add_dynamic, {100, 64, 64 * sizeof(unsigned)}, nullptr, &total),
              cudaSuccess);
    EXPECT_EQ(total, 64U * 4950U);
    EXPECT_EQ(arch::launch(add_dynamic, {1, 2048}, nullptr, &total), cudaErrorInvalidConfiguration);
    cudaGetLastError();
}

__global__ void neighbours(const unsigned* in, unsigned* middle, unsigned* out) {
    if (threadIdx.x == 0) middle[blockIdx.x] = in[blockIdx.x] + 1;
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) out[blockIdx.x] = middle[(blockIdx.x + 1) % gridDim.x];
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) middle[blockIdx.x] = 0;
}

TEST_F(EmulatedDevice, CooperativeGridsMeet) {
    emulated::device().sms = 12;
    std::vector<unsigned> in(24), middle(24), out(24);
    std::iota(in.begin(), in.end(), 0U);
    ASSERT_EQ(arch::launch_cooperative(neighbours, {24, 64}, nullptr, in.data(), middle.data(),
                                       out.data()),
              cudaSuccess);
    for (unsigned i = 0; i < 24; ++i) EXPECT_EQ(out[i], (i + 1) % 24 + 1);
    EXPECT_EQ(arch::launch_cooperative(neighbours, {25, 64}, nullptr, in.data(), middle.data(),
                                       out.data()),
              cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
    EXPECT_TRUE(mentions(fault_of({2, 64}, neighbours, in.data(), middle.data(), out.data()),
                         "cooperative"));
}

__global__ void barrier_for_some() {
    if (threadIdx.x < 40) __syncthreads();
}
__global__ void two_barriers() {
    if (threadIdx.x < 40) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}
__global__ void vote_without_lane_7() {
    if (threadIdx.x != 7) __ballot_sync(~0U, 1);
}
__global__ void vote_and_shuffle() {
    if (threadIdx.x < 16) {
        __ballot_sync(~0U, 1);
    } else {
        __shfl_sync(~0U, 1, 0);
    }
}
__global__ void vote_outside_the_mask() {
    __ballot_sync(1U, 1);
}

TEST_F(EmulatedDevice, BarriersWithoutSomeThreadsAreFaults) {
    const std::string some = fault_of({3, 64}, barrier_for_some);
    EXPECT_TRUE(mentions(some, "24 of 64 threads have ended")) << some;
    EXPECT_TRUE(mentions(some, "barrier_for_some")) << some;
    EXPECT_TRUE(mentions(some, "device_test.cpp:")) << some;
    const std::string apart = fault_of({1, 64}, two_barriers);
    EXPECT_TRUE(mentions(apart, "40 (the first is thread 0)")) << apart;
    EXPECT_TRUE(mentions(apart, "24 (the first is thread 40)")) << apart;
}

TEST_F(EmulatedDevice, WarpOperationsWithoutSomeLanesAreFaults) {
    const std::string without = fault_of({1, 32}, vote_without_lane_7);
    EXPECT_TRUE(mentions(without, "31 (the first is thread 0) wait at __ballot_sync")) << without;
    const std::string unlike = fault_of({1, 32}, vote_and_shuffle);
    EXPECT_TRUE(mentions(unlike, "wait at __shfl_sync")) << unlike;
    EXPECT_TRUE(mentions(fault_of({1, 32}, vote_outside_the_mask), "outside its mask"));
    // A warp that is not full has no lanes for a full mask.
    EXPECT_TRUE(mentions(fault_of({1, 31}, warp_operations, nullptr), "__shfl_sync"));
}

__global__ void forgotten_barrier(unsigned* wrong) {
    __shared__ unsigned shared[64];
    shared[threadIdx.x] = threadIdx.x;
    const unsigned other = shared[63 - threadIdx.x];
    if (other != 63 - threadIdx.x) atomicAdd(wrong, 1);
}

TEST_F(EmulatedDevice, SharedMemoryIsPoisonInEveryBlock) {
    unsigned wrong = 0;
    ASSERT_EQ(arch::launch(forgotten_barrier, {20, 64}, nullptr, &wrong), cudaSuccess);
    EXPECT_GE(wrong, 20U * 31U);
}

__global__ void wait_for_the_block_before(std::uint64_t* done) {
    if (threadIdx.x == 0) {
        while (blockIdx.x > 0 && arch::load_relaxed(done + blockIdx.x - 1) == 0) {
        }
        arch::exchange(done + blockIdx.x, 1);
    }
}
__global__ void wait_for_the_ticket_before(std::uint64_t* ticket, std::uint64_t* done) {
    if (threadIdx.x == 0) {
        const std::uint64_t own = arch::add(ticket, 1);
        while (own > 0 && arch::load_relaxed(done + own - 1) == 0) {
        }
        arch::exchange(done + own, 1);
    }
}

TEST_F(EmulatedDevice, TrustInTheOrderOfBlocksIsFound) {
    emulated::device().stall_seconds = 1;
    std::vector<std::uint64_t> done(1000);
    const std::string fault = fault_of({1000, 32}, wait_for_the_block_before, done.data());
    EXPECT_TRUE(mentions(fault, "waits without end")) << fault;
}

TEST_F(EmulatedDevice, TicketsGoOnInAnyOrder) {
    std::vector<std::uint64_t> done(1000);
    std::uint64_t ticket = 0;
    EXPECT_EQ(arch::launch(wait_for_the_ticket_before, {1000, 32}, nullptr, &ticket, done.data()),
              cudaSuccess);
    EXPECT_EQ(std::count(done.begin(), done.end(), 1U), 1000);
}

__global__ void trap_in_one_thread() {
    if (blockIdx.x == 3 && threadIdx.x == 5) __trap();
}

TEST_F(EmulatedDevice, TrapsAndLaunchesAfterThem) {
    const std::string fault = fault_of({8, 64}, trap_in_one_thread);
    EXPECT_TRUE(mentions(fault, "block 3, thread 5: __trap")) << fault;
    std::vector<int> in(100, 1);
    std::vector<int> out(100);
    EXPECT_EQ(arch::launch(reverse_block, {1, 100}, nullptr, in.data(), out.data()), cudaSuccess);
    EXPECT_EQ(in, out);
    EXPECT_EQ(emulated::take_fault(), "");
}

}  // namespace
}  // namespace lookback::test
