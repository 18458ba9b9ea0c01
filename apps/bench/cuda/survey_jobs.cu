// The forms of the scans of a warp and of a block, each alone: many scans one after the other on
// every SM, without memory, and the time of one.
#include "bench/cuda/jobs.cuh"

#include <lookback/kernels/block/scan.cuh>
#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/warp/scan_forms.cuh>

namespace lookback::bench {
namespace {

constexpr int rounds = 256;
constexpr int blocks_per_sm = 4;

template <class Form, class T, class Op>
__global__ void __launch_bounds__(256) scan_in_warps(T* items, Op op) {
    T value = items[threadIdx.x];
    for (int round = 0; round < rounds; ++round) value = Form::inclusive(value, op);
    items[blockIdx.x * index_t{256} + threadIdx.x] = value;
}

template <class Form, int Threads, class T, class Op>
__global__ void __launch_bounds__(Threads) scan_in_block(T* items, Op op) {
    __shared__ T shared[Threads];
    T value = items[threadIdx.x];
    for (int round = 0; round < rounds; ++round) value = Form::inclusive_scan(value, shared, op);
    items[blockIdx.x * index_t{Threads} + threadIdx.x] = value;
}

int sms() {
    int count = 0;
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0), "attribute");
    return count;
}

/// Nanoseconds that an SM needs for one scan of `threads` values, with `resident` such scans under
/// way.
template <class T, class Launch>
void form_row(const arena& a, const char* name, int resident, Launch launch) {
    fill<<<64, 256, 0, a.stream>>>(static_cast<T*>(a.in), 4096);
    const double ms = median_ms(a.stream, 11, launch);
    check(cudaGetLastError(), name);
    std::printf("| %s | %.1f |\n", name, ms * 1e6 / rounds / resident);
}

template <class Form, class T, class Op>
void warp_row(const arena& a, const char* name) {
    form_row<T>(a, name, blocks_per_sm * 8, [&](cudaStream_t s) {
        scan_in_warps<Form><<<sms() * blocks_per_sm, 256, 0, s>>>(static_cast<T*>(a.in), Op{});
    });
}

template <template <int> class Form, int Threads, class T, class Op>
void block_row(const arena& a, const char* name) {
    form_row<T>(a, name, blocks_per_sm, [&](cudaStream_t s) {
        scan_in_block<Form<Threads>, Threads>
            <<<sms() * blocks_per_sm, Threads, 0, s>>>(static_cast<T*>(a.in), Op{});
    });
}

void headings(const char* first) {
    std::printf("\n| %s | ns an SM and scan |\n|---|---|\n", first);
}

template <class T, class Op>
void warp_forms(const arena& a) {
    warp_row<warp::kogge_stone, T, Op>(a, "Kogge-Stone");
    warp_row<warp::sklansky, T, Op>(a, "Sklansky");
    warp_row<warp::brent_kung, T, Op>(a, "Brent-Kung");
}

template <int Threads, class T, class Op>
void block_forms(const arena& a) {
    block_row<block::kogge_stone, Threads, T, Op>(a, "Kogge-Stone by shuffles");
    block_row<block::raking, Threads, T, Op>(a, "raking");
    block_row<block::hillis_steele, Threads, T, Op>(a, "Hillis-Steele");
    block_row<block::blelloch, Threads, T, Op>(a, "Blelloch, Brent-Kung");
    block_row<block::sklansky, Threads, T, Op>(a, "Sklansky");
}

}  // namespace

void survey(const arena& a) {
    headings("warp, u32 sum");
    warp_forms<std::uint32_t, core::plus>(a);
    headings("warp, user operator of 16 bytes");
    warp_forms<affine, compose>(a);
    headings("block of 256, u32 sum");
    block_forms<256, std::uint32_t, core::plus>(a);
    headings("block of 1024, u32 sum");
    block_forms<1024, std::uint32_t, core::plus>(a);
    headings("block of 256, user operator of 16 bytes");
    block_forms<256, affine, compose>(a);
}

}  // namespace lookback::bench
