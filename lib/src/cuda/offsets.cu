// CUDA backend: what the API must know of offsets that lie in device memory.
#include "cuda/cuda_check.hpp"
#include "cuda/gpu_device.hpp"

#include <lookback/kernels/device/segmented_offsets.cuh>

namespace lookback::cuda {

offset_facts look_at_offsets(device& device, const char* who, const std::int64_t* offsets,
                             std::size_t count) {
    namespace kernels = lookback::device;
    auto& gpu = static_cast<gpu_device&>(device);
    cuda_check(cudaSetDevice(gpu.ordinal()), "select the device");
    gpu.require_own(offsets, who);
    kernels::offset_report report{};
    const kernels::segment_list list{offsets, static_cast<core::index_t>(count) - 1};
    auto* const found = static_cast<kernels::offset_report*>(gpu.memory().allocate(sizeof(report)));
    const cudaError_t status = kernels::launch_check_offsets(list, found, gpu.native_stream());
    if (status == cudaSuccess) gpu.copy(&report, found, sizeof(report));
    gpu.memory().deallocate(found, sizeof(report));
    cuda_check(status, "check offsets");
    offset_facts facts{report.first, report.last, count, 0, 0};
    if (report.decrease < count) {
        facts.decrease = static_cast<std::size_t>(report.decrease);
        std::int64_t pair[2];
        gpu.copy(pair, offsets + facts.decrease - 1, sizeof(pair));
        facts.before = pair[0];
        facts.less = pair[1];
    }
    return facts;
}

}  // namespace lookback::cuda
