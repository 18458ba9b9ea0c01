// Reproducible sums while every block takes its own time: an operator that sleeps as its block and
// its run decide. All runs must have the bits of the tree, written out serially.
#include "support/device_array.cuh"
#include "support/reproducible_reference.hpp"
#include "support/scan_operators.cuh"

#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/device/scan.cuh>

#include <cstring>

namespace lookback::test {
namespace {

struct sleepy_plus {
    std::uint32_t run;

    LOOKBACK_HD float operator()(float earlier, float later) const {
#if defined(__CUDA_ARCH__) || defined(LOOKBACK_EMULATED_DEVICE)
        // One block in four sleeps in one combination of 64, up to 4 us.
        const auto bits = static_cast<std::uint32_t>(scramble(run * 65536U + blockIdx.x));
        const auto place = static_cast<std::uint32_t>(threadIdx.x * 7 + run);
        if (bits % 4 == 0 && place % 64 == 0) __nanosleep(bits >> 20);
#endif
        return earlier + later;
    }
    template <class T>
    LOOKBACK_HD static constexpr T identity() {
        return core::plus::identity<T>();
    }
};

class ScanReproducible : public CudaTest {};

TEST_F(ScanReproducible, BitsDoNotDependOnTheTimeOfBlocks) {
    constexpr std::size_t size = by_device(8000001, 60001, 25001);
    constexpr std::uint32_t runs = by_device(100U, 100U, 10U);
    std::vector<float> items(size);
    for (std::size_t i = 0; i < size; ++i) items[i] = test_item<float>(i);
    const reproducible_reference<float, core::plus> tree(core::plus{});
    const std::vector<float> expected = tree.scan(items, false, std::nullopt);
    // They are not the sums of another order: else nothing would be shown.
    std::vector<float> serial = items;
    for (std::size_t i = 1; i < size; ++i) serial[i] += serial[i - 1];
    EXPECT_NE(std::memcmp(serial.data(), expected.data(), size * sizeof(float)), 0);
    const device_array<float> in(items);
    const device_array<float> out(size);
    device_array<unsigned char> memory(
        device::scan_workspace_bytes<float>(static_cast<core::index_t>(size)));
    const device::scan_workspace workspace{memory.data(), memory.size(), nullptr};
    require(device::prepare(workspace, nullptr), "prepare");
    for (std::uint32_t run = 0; run < runs; ++run) {
        require(
            device::reproducible_scan(workspace,
                                      device::scan_request<float>{in.data(), out.data(),
                                                                  static_cast<core::index_t>(size)},
                                      sleepy_plus{run}, nullptr),
            "reproducible_scan");
        require(cudaDeviceSynchronize(), "reproducible_scan");
        const std::vector<float> found = out.host();
        ASSERT_EQ(std::memcmp(found.data(), expected.data(), size * sizeof(float)), 0)
            << "run " << run;
    }
}

}  // namespace
}  // namespace lookback::test
