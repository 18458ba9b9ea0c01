// Benchmark support: device times by events, medians after a warm-up, and checks on the device.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime_api.h>

namespace lookback::bench {

inline void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "lookback-bench: %s: %s\n", what, cudaGetErrorString(status));
    std::exit(1);
}

/// Median device time of `work(stream)` in milliseconds over `repeats` runs, each between two
/// events of its own.
template <class Work>
double median_ms(cudaStream_t stream, int repeats, Work work) {
    std::vector<cudaEvent_t> marks(static_cast<std::size_t>(repeats) * 2);
    for (auto& mark : marks) check(cudaEventCreate(&mark), "event");
    for (int i = 0; i < 3; ++i) work(stream);
    for (int i = 0; i < repeats; ++i) {
        check(cudaEventRecord(marks[2 * i], stream), "record");
        work(stream);
        check(cudaEventRecord(marks[2 * i + 1], stream), "record");
    }
    check(cudaStreamSynchronize(stream), "run");
    std::vector<float> times(static_cast<std::size_t>(repeats));
    for (int i = 0; i < repeats; ++i) {
        check(cudaEventElapsedTime(&times[i], marks[2 * i], marks[2 * i + 1]), "time");
    }
    for (auto& mark : marks) cudaEventDestroy(mark);
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[repeats / 2];
}

/// Keeps the device busy for `seconds`, so that its clocks are up.
template <class Work>
void warm_up(cudaStream_t stream, double seconds, Work work) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
           seconds) {
        for (int i = 0; i < 10; ++i) work(stream);
        check(cudaStreamSynchronize(stream), "warm up");
    }
}

}  // namespace lookback::bench
