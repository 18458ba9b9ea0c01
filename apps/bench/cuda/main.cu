// lookback-bench-cuda [scan] [segments] [survey] [tune]: the project on one GPU against a copy of
// the same bytes and against CUB, in turn in one process; prints the tables of docs/performance.md.
// Outputs are compared with CUB's. Without an argument: scan, segments and survey.
#include "bench/cuda/arena.cuh"
#include "bench/cuda/cub_peer.hpp"
#include "bench/cuda/jobs.cuh"

#include <lookback/kernels/core/operators.hpp>

#include <string>

namespace lookback::bench {
namespace {

using device::scan_request;
using device::scan_strategy;

template <class T>
double peer_ms(const arena& a, cub_scan<T> peer, index_t n, bool in_place) {
    const T* in = static_cast<const T*>(in_place ? a.other : a.in);
    T* out = static_cast<T*>(a.other);
    std::size_t bytes = a.peer_bytes;
    return median_ms(a.stream, repeats_for(n * sizeof(T)), [&](cudaStream_t s) {
        check(peer.run(a.peer_memory, bytes, in, out, n, s), "CUB");
    });
}

// One row: copy, ours, both CUBs, in turn; then the same again, and the better of both rounds of
// each, so that no one pays for another's warm-up.
template <class T, class Run>
void row(const arena& a, const char* name, index_t n, bool in_place, Run run) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    const int repeats = repeats_for(bytes);
    fill<<<2048, 256, 0, a.stream>>>(static_cast<T*>(a.in), n);
    const auto bundled = cub_bundled::peer<T>();
    std::size_t temp = a.peer_bytes;
    check(bundled.run(a.peer_memory, temp, static_cast<const T*>(a.in), static_cast<T*>(a.other), n,
                      a.stream),
          "CUB");
    check(cudaMemsetAsync(a.out, 0xA5, bytes, a.stream), "poison");
    if (in_place) check(cudaMemcpyAsync(a.out, a.in, bytes, cudaMemcpyDefault, a.stream), "copy");
    const T* from = static_cast<const T*>(in_place ? a.out : a.in);
    T* to = static_cast<T*>(a.out);
    check(run(from, to, n, a.stream), name);
    count_unlike<<<2048, 256, 0, a.stream>>>(to, static_cast<const T*>(a.other), n, a.unlike);
    const bool right = a.alike();
    double ms[4] = {1e9, 1e9, 1e9, 1e9};
    for (int round = 0; round < 2; ++round) {
        ms[0] = std::min(ms[0], a.copy_ms(bytes, repeats));
        ms[1] = std::min(ms[1], median_ms(a.stream, repeats, [&](cudaStream_t s) {
                             check(run(from, to, n, s), name);
                         }));
        ms[2] = std::min(ms[2], peer_ms(a, bundled, n, in_place));
        ms[3] = std::min(ms[3], peer_ms(a, cub_newest::peer<T>(), n, in_place));
    }
    std::printf("| %s | %.4f | %.4f | %.3f | %.4f | %.2f | %.4f | %.2f |%s\n", name, ms[0], ms[1],
                ms[0] / ms[1], ms[2], ms[2] / ms[1], ms[3], ms[3] / ms[1], right ? "" : " WRONG");
}

template <class T, class Op>
void automatic(const arena& a, const char* name, int log2_items, bool in_place = false) {
    row<T>(a, name, index_t{1} << log2_items, in_place,
           [&](const T* in, T* out, index_t n, cudaStream_t s) {
               return device::scan(a.workspace, scan_request<T>{in, out, n}, Op{}, s);
           });
}

template <class T>
void reproducible(const arena& a, const char* name, int log2_items) {
    row<T>(a, name, index_t{1} << log2_items, false,
           [&](const T* in, T* out, index_t n, cudaStream_t s) {
               return device::reproducible_scan(a.workspace, scan_request<T>{in, out, n},
                                                core::plus{}, s);
           });
}

void headings(const char* first) {
    std::printf(
        "\n| %s | copy ms | ms | of copy | CUB ms | x | newest CUB ms | x |\n"
        "|---|---|---|---|---|---|---|---|\n",
        first);
}

void scans(const arena& a) {
    using u32 = std::uint32_t;
    headings("scan, 2^28 items unless said");
    automatic<u32, core::plus>(a, "u32 sum, 2^30", 30);
    automatic<u32, core::plus>(a, "u32 sum", 28);
    automatic<u32, core::plus>(a, "u32 sum in place", 28, true);
    automatic<std::int32_t, core::maximum>(a, "i32 max", 28);
    automatic<float, core::plus>(a, "f32 sum", 28);
    automatic<float, core::plus>(a, "f32 sum, 2^30", 30);
    automatic<std::uint64_t, core::plus>(a, "u64 sum", 28);
    automatic<double, core::plus>(a, "f64 sum", 28);
    automatic<std::uint8_t, core::plus>(a, "u8 sum", 28);
    automatic<std::uint16_t, core::plus>(a, "u16 sum", 28);
    automatic<brackets, bicyclic>(a, "user operator, 8 bytes", 28);
    automatic<affine, compose>(a, "user operator, 16 bytes", 28);
    automatic<u32, core::plus>(a, "u32 sum, 2^26", 26);
    automatic<u32, core::plus>(a, "u32 sum, 2^24", 24);
    automatic<u32, core::plus>(a, "u32 sum, 2^22", 22);
    automatic<u32, core::plus>(a, "u32 sum, 2^20", 20);
    automatic<u32, core::plus>(a, "u32 sum, 2^18", 18);
    automatic<u32, core::plus>(a, "u32 sum, 2^16", 16);
    automatic<u32, core::plus>(a, "u32 sum, 2^10", 10);
    reproducible<float>(a, "f32 reproducible", 28);
    reproducible<double>(a, "f64 reproducible", 28);
    reproducible<float>(a, "f32 reproducible, 2^22", 22);
    automatic<float, core::plus>(a, "f32 in free order, 2^22", 22);
    reproducible<float>(a, "f32 reproducible, 2^18", 18);
    automatic<float, core::plus>(a, "f32 in free order, 2^18", 18);
}

void strategies(const arena& a) {
    using u32 = std::uint32_t;
    for (const int log2_items : {28, 24, 20, 14}) {
        headings(("strategies, u32 sum, 2^" + std::to_string(log2_items)).c_str());
        constexpr const char* names[] = {"automatic", "single",  "three-launch", "grid-barrier",
                                         "lookback",  "bounded", "fallback"};
        for (int strategy = 1; strategy < 7; ++strategy) {
            row<u32>(a, names[strategy], index_t{1} << log2_items, false,
                     [&](const u32* in, u32* out, index_t n, cudaStream_t s) {
                         return device::scan_by(static_cast<scan_strategy>(strategy), a.workspace,
                                                scan_request<u32>{in, out, n}, core::plus{}, s);
                     });
        }
    }
}

}  // namespace
}  // namespace lookback::bench

int main(int arguments, char** argument) {
    using namespace lookback::bench;
    const auto wants = [&](const std::string& job) {
        if (arguments == 1) return job != "tune";
        return std::find(argument + 1, argument + arguments, job) != argument + arguments;
    };
    const arena a(std::size_t{1} << 32);
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0), "device");
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("%s, CUDA %d, CUB %d and %d; medians by events, in turn, after 0.4 s of warm-up\n",
                device.name, CUDART_VERSION, cub_bundled::version(), cub_newest::version());
    warm_up(a.stream, 0.4, [&](cudaStream_t s) {
        check(cudaMemcpyAsync(a.out, a.in, std::size_t{1} << 28, cudaMemcpyDeviceToDevice, s),
              "copy");
    });
    if (wants("scan")) scans(a);
    if (wants("segments")) segments(a);
    if (wants("tune")) tune_segments(a);
    if (wants("survey")) {
        survey(a);
        strategies(a);
    }
}
