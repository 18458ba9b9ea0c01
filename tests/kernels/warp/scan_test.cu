// The three forms of the warp scan: equal results, in order, without an identity.
#include "support/device_array.cuh"
#include "support/scan_operators.cuh"

#include <lookback/kernels/arch/launch.cuh>
#include <lookback/kernels/warp/scan_forms.cuh>

namespace lookback::test {
namespace {

template <class Form>
__global__ void scan_warps(brackets* items) {
    items[threadIdx.x] = Form::inclusive(items[threadIdx.x], bicyclic{});
}

class WarpScan : public CudaTest {};

template <class Form>
void expect_scans() {
    constexpr std::size_t threads = 128;
    std::vector<brackets> items(threads);
    std::vector<brackets> expected(threads);
    for (std::size_t i = 0; i < threads; ++i) {
        items[i] = test_item<brackets>(i);
        expected[i] = i % 32 == 0 ? items[i] : bicyclic{}(expected[i - 1], items[i]);
    }
    const device_array<brackets> array(items);
    require(arch::launch(scan_warps<Form>, {1, threads}, nullptr, array.data()), "scan_warps");
    require(cudaDeviceSynchronize(), "scan_warps");
    EXPECT_TRUE(array.host() == expected);
}

TEST_F(WarpScan, KoggeStone) {
    expect_scans<warp::kogge_stone>();
}
TEST_F(WarpScan, Sklansky) {
    expect_scans<warp::sklansky>();
}
TEST_F(WarpScan, BrentKung) {
    expect_scans<warp::brent_kung>();
}

}  // namespace
}  // namespace lookback::test
