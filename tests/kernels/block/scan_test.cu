// The five forms of the block scan: equal results, in order, without an identity, used twice.
#include "support/device_array.cuh"
#include "support/scan_operators.cuh"

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/block/scan.cuh>

namespace lookback::test {
namespace {

template <class Form, int Threads>
__global__ void scan_block(const brackets* in, brackets* out) {
    __shared__ brackets shared[Threads];
    const brackets once = Form::inclusive_scan(in[threadIdx.x], shared, bicyclic{});
    out[threadIdx.x] = once;
    out[Threads + threadIdx.x] = Form::inclusive_scan(once, shared, bicyclic{});
}

class BlockScan : public CudaTest {};

std::vector<brackets> running(const std::vector<brackets>& items) {
    std::vector<brackets> sums = items;
    for (std::size_t i = 1; i < sums.size(); ++i) sums[i] = bicyclic{}(sums[i - 1], sums[i]);
    return sums;
}

template <template <int> class Form, int Threads>
void expect_scans() {
    std::vector<brackets> items(Threads);
    for (int i = 0; i < Threads; ++i) items[i] = test_item<brackets>(i);
    auto expected = running(items);
    const auto twice = running(expected);
    expected.insert(expected.end(), twice.begin(), twice.end());
    device_array<brackets> in(items);
    device_array<brackets> out(2 * Threads);
    require(arch::launch(scan_block<Form<Threads>, Threads>, {1, Threads}, nullptr, in.data(),
                         out.data()),
            "scan_block");
    require(cudaDeviceSynchronize(), "scan_block");
    EXPECT_TRUE(out.host() == expected) << Threads << " threads";
}

template <template <int> class Form>
void expect_scans_of_every_width() {
    expect_scans<Form, 32>();
    expect_scans<Form, 256>();
    expect_scans<Form, 1024>();
}

TEST_F(BlockScan, KoggeStone) {
    expect_scans_of_every_width<block::kogge_stone>();
}
TEST_F(BlockScan, HillisSteele) {
    expect_scans_of_every_width<block::hillis_steele>();
}
TEST_F(BlockScan, Blelloch) {
    expect_scans_of_every_width<block::blelloch>();
}
TEST_F(BlockScan, Sklansky) {
    expect_scans_of_every_width<block::sklansky>();
}
TEST_F(BlockScan, Raking) {
    expect_scans_of_every_width<block::raking>();
}

}  // namespace
}  // namespace lookback::test
