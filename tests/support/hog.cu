// cuda_hog [SECONDS]: keeps every multiprocessor of the GPU busy, 20 ms at a time, with blocks that
// leave no room for others, so that the kernels of another process are preempted and resumed.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime_api.h>

namespace {

constexpr int most_shared_bytes = 200 * 1024;

__global__ void spin(long long cycles) {
    extern __shared__ int unused[];
    if (threadIdx.x == 0) unused[0] = 1;
    const long long end = clock64() + cycles;
    while (clock64() < end) {
    }
}

}  // namespace

int main(int arguments, char** argument) {
    const double seconds = arguments > 1 ? std::atof(argument[1]) : 60;
    int sms = 0;
    if (cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess ||
        cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             most_shared_bytes) != cudaSuccess) {
        std::fprintf(stderr, "cuda_hog: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto start = now();
    while (std::chrono::duration<double>(now() - start).count() < seconds) {
        spin<<<sms, 1024, most_shared_bytes>>>(40'000'000);  // at 2 GHz
        if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    }
    return 0;
}
