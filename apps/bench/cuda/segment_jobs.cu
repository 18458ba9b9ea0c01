// Segmented scans and reductions on one GPU: against their floor, a copy of as many bytes as must
// move, and against CUB's scan and reduction by key, whose keys are not in that floor.
#include "bench/cuda/cub_peer.hpp"
#include "bench/cuda/jobs.cuh"

#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/device/segmented_scan.cuh>

#include <cmath>
#include <functional>
#include <string>

namespace lookback::bench {
namespace {

using u32 = std::uint32_t;
constexpr index_t n = index_t{1} << 28;
constexpr index_t crowd = 16 << 20;  // empty segments in one place

struct shape {
    const char* name;
    std::function<index_t(std::uint64_t)> length;  // of a segment, from random bits
};

const std::vector<shape>& shapes() {
    static const std::vector<shape> all = {
        {"uniform 4", [](auto) { return 4; }},
        {"uniform 100", [](auto) { return 100; }},
        {"uniform 1e5", [](auto) { return 100000; }},
        {"random, mean 5", [](auto bits) { return static_cast<index_t>(bits % 11); }},
        {"power law",
         [](auto bits) {
             const double chance = static_cast<double>((bits >> 11) + 1) * 0x1p-53;
             return static_cast<index_t>(std::min(1e7, std::pow(chance, -1.0 / 1.2)));
         }},
        {"one", [](auto) { return n; }},
        {"a giant among small",
         [count = 0](auto bits) mutable {
             return ++count == 1000 ? n / 2 : static_cast<index_t>(bits % 11);
         }},
        {"90 % empty",
         [](auto bits) {
             return bits % 10 == 0 ? static_cast<index_t>(bits / 16 % 101) : index_t{0};
         }},
        {"16 million empty in one place", [count = index_t{0}](auto bits) mutable {
             ++count;
             return count > 1000 && count <= 1000 + crowd ? 0 : static_cast<index_t>(bits % 11);
         }}};
    return all;
}

std::vector<index_t> offsets_of(shape kind) {
    std::vector<index_t> offsets = {0};
    offsets.reserve(static_cast<std::size_t>(n) / 4 + crowd);
    for (std::uint64_t s = 0; offsets.back() < n; ++s) {
        const index_t length = kind.length(test::scramble(s));
        offsets.push_back(std::min(n, offsets.back() + length));
    }
    return offsets;
}

/// The number of the segment of each item.
__global__ void fill_keys(u32* keys, index_t items, const device::segment_list list) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < items;
         i += index_t{gridDim.x} * blockDim.x) {
        keys[i] = static_cast<u32>(device::first_greater(list, 1, list.count(), i));
    }
}

/// Totals must be the last item of each segment of a scan.
__global__ void count_wrong_totals(const u32* totals, const u32* scanned,
                                   const device::segment_list list, unsigned long long* wrong) {
    for (index_t s = blockIdx.x * index_t{blockDim.x} + threadIdx.x; s < list.segments;
         s += index_t{gridDim.x} * blockDim.x) {
        const bool empty = list.offsets[s] == list.offsets[s + 1];
        if (totals[s] != (empty ? 0 : scanned[list.offsets[s + 1] - 1])) atomicAdd(wrong, 1);
    }
}

/// What one shape needs besides the arena.
class segment_arrays {
public:
    explicit segment_arrays(const std::vector<index_t>& offsets)
        : segments_(static_cast<index_t>(offsets.size()) - 1) {
        check(cudaMalloc(&offsets_, offsets.size() * sizeof(index_t)), "allocate");
        check(cudaMalloc(&keys_, n * sizeof(u32)), "allocate");
        check(cudaMalloc(&keys_out_, n * sizeof(u32)), "allocate");
        check(cudaMalloc(&totals_, (offsets.size() + 1) * sizeof(u32)), "allocate");
        check(cudaMalloc(&bounds_, (n / 1024 + 2) * sizeof(index_t)), "allocate");
        check(cudaMalloc(&runs_, sizeof(std::int64_t)), "allocate");
        check(cudaMemcpy(offsets_, offsets.data(), offsets.size() * sizeof(index_t),
                         cudaMemcpyDefault),
              "upload");
    }
    segment_arrays(const segment_arrays&) = delete;
    segment_arrays& operator=(const segment_arrays&) = delete;
    ~segment_arrays() {
        for (void* block : {static_cast<void*>(offsets_), static_cast<void*>(keys_),
                            static_cast<void*>(keys_out_), static_cast<void*>(totals_),
                            static_cast<void*>(bounds_), static_cast<void*>(runs_)}) {
            cudaFree(block);
        }
    }

    device::segment_list list() const { return {offsets_, segments_}; }
    device::segmented_workspace workspace(const arena& a) const { return {a.workspace, bounds_}; }
    u32* keys() const { return keys_; }
    u32* keys_out() const { return keys_out_; }
    u32* totals() const { return totals_; }
    std::int64_t* runs() const { return runs_; }

private:
    index_t segments_;
    index_t* offsets_ = nullptr;
    u32* keys_ = nullptr;
    u32* keys_out_ = nullptr;
    u32* totals_ = nullptr;
    index_t* bounds_ = nullptr;
    std::int64_t* runs_ = nullptr;
};

constexpr int repeats = 11;

/// Times of a job, the better of two rounds, each in turn with the others.
struct times {
    double floor = 1e9;
    double ours = 1e9;
    double bundled = 1e9;
    double newest = 1e9;

    void print(const std::string& name, bool right) const {
        std::printf("| %s | %.4f | %.4f | %.3f | %.4f | %.2f | %.4f | %.2f |%s\n", name.c_str(),
                    floor, ours, floor / ours, bundled, bundled / ours, newest, newest / ours,
                    right ? "" : " WRONG");
    }
};

/// peer(stream, by_key) runs one of the two versions of CUB.
template <class Ours, class Peer>
times measure(const arena& a, index_t bytes, Ours ours, Peer peer) {
    times best;
    for (int round = 0; round < 2; ++round) {
        // A copy reads and writes: half as many bytes.
        best.floor = std::min(best.floor, a.copy_ms(static_cast<std::size_t>(bytes) / 2, repeats));
        best.ours = std::min(best.ours, median_ms(a.stream, repeats, ours));
        best.bundled = std::min(best.bundled, median_ms(a.stream, repeats, [&](cudaStream_t s) {
                                    peer(s, cub_bundled::by_key<u32>());
                                }));
        best.newest = std::min(best.newest, median_ms(a.stream, repeats, [&](cudaStream_t s) {
                                   peer(s, cub_newest::by_key<u32>());
                               }));
    }
    return best;
}

template <class Policy>
void scan_row(const arena& a, const segment_arrays& s, const std::string& name) {
    const auto* in = static_cast<const u32*>(a.in);
    auto* out = static_cast<u32*>(a.out);
    auto* other = static_cast<u32*>(a.other);
    const auto ours = [&](cudaStream_t stream) {
        check(device::segmented_under<Policy, device::segmented_result::items>(
                  s.workspace(a), device::segmented_request<u32>{{in, out, n}, s.list(), 0},
                  core::plus{}, stream),
              "scan of segments");
    };
    const auto cub = [&](cudaStream_t stream, const cub_by_key<u32>& peer) {
        std::size_t bytes = a.peer_bytes;
        check(peer.scan(a.peer_memory, bytes, s.keys(), in, other, n, stream), "CUB");
    };
    check(cudaMemsetAsync(out, 0xA5, n * sizeof(u32), a.stream), "poison");
    ours(a.stream);
    cub(a.stream, cub_bundled::by_key<u32>());
    count_unlike<<<2048, 256, 0, a.stream>>>(out, other, n, a.unlike);
    const bool right = a.alike();
    measure(a, 8 * n + 8 * s.list().segments, ours, cub).print(name, right);
}

/// a.other holds the scan of the same items.
template <class Policy>
void reduce_row(const arena& a, const segment_arrays& s, const std::string& name) {
    const auto* in = static_cast<const u32*>(a.in);
    const auto ours = [&](cudaStream_t stream) {
        check(device::segmented_under<Policy, device::segmented_result::totals>(
                  s.workspace(a), device::segmented_request<u32>{{in, s.totals(), n}, s.list(), 0},
                  core::plus{}, stream),
              "reduction of segments");
    };
    const auto cub = [&](cudaStream_t stream, const cub_by_key<u32>& peer) {
        std::size_t bytes = a.peer_bytes;
        check(peer.reduce(a.peer_memory, bytes, s.keys(), in, s.keys_out(),
                          static_cast<u32*>(a.out), s.runs(), n, stream),
              "CUB");
    };
    check(cudaMemsetAsync(s.totals(), 0xA5, s.list().segments * sizeof(u32), a.stream), "poison");
    ours(a.stream);
    count_wrong_totals<<<2048, 256, 0, a.stream>>>(s.totals(), static_cast<const u32*>(a.other),
                                                   s.list(), a.unlike);
    const bool right = a.alike();
    measure(a, 4 * n + 12 * s.list().segments, ours, cub).print(name, right);
}

void headings(const char* first) {
    std::printf(
        "\n| %s | floor ms | ms | of floor | CUB by key ms | x | newest CUB ms | x |\n"
        "|---|---|---|---|---|---|---|---|\n",
        first);
}

void fill_items(const arena& a) {
    fill<<<2048, 256, 0, a.stream>>>(static_cast<u32*>(a.in), n);
}

/// row(shape's arrays, its name) for each shape.
template <class Row>
void for_shapes(const arena& a, std::size_t count, Row row) {
    fill_items(a);
    for (std::size_t i = 0; i < count; ++i) {
        const segment_arrays s(offsets_of(shapes()[i]));
        fill_keys<<<2048, 256, 0, a.stream>>>(s.keys(), n, s.list());
        // The clocks went down while the host made the offsets.
        warm_up(a.stream, 0.3, [&](cudaStream_t stream) {
            check(cudaMemcpyAsync(a.out, a.in, n, cudaMemcpyDeviceToDevice, stream), "copy");
        });
        row(s, std::string(shapes()[i].name));
    }
}

template <int Warps, int Rows, int Stages, int Strips, int Blocks>
struct cut : tuning::segmented_totals<u32> {
    static constexpr int threads = 32 * Warps;
    static constexpr int warps = Warps;
    static constexpr int rows = Rows;
    static constexpr int stages = Stages;
    static constexpr int strips = Strips;
    static constexpr int blocks_per_sm = Blocks;
};

template <int... Cut>
void tune(const arena& a, const segment_arrays& s, const std::string& name) {
    std::string numbers;
    for (const int number : {Cut...}) numbers += std::to_string(number) + ", ";
    reduce_row<cut<Cut...>>(a, s, numbers + name);
}

}  // namespace

void segments(const arena& a) {
    headings("scan and reduction of segments, u32 sum, 2^28 items");
    for_shapes(a, shapes().size(), [&](const segment_arrays& s, const std::string& name) {
        scan_row<tuning::segmented_policy<u32>>(a, s, "scan, " + name);
        reduce_row<tuning::segmented_totals<u32>>(a, s, "reduce, " + name);
    });
}

void tune_segments(const arena& a) {
    headings("reduction: warps, rows, stages, strips, blocks an SM; u32 sum, 2^28 items");
    for_shapes(a, shapes().size(), [&](const segment_arrays& s, const std::string& name) {
        scan_row<tuning::segmented_policy<u32>>(a, s, "scan, " + name);  // for the totals
        tune<4, 4, 2, 16, 7>(a, s, name);
        tune<4, 4, 3, 16, 5>(a, s, name);
        tune<2, 8, 2, 8, 9>(a, s, name);
        tune<3, 8, 2, 8, 6>(a, s, name);
    });
}

}  // namespace lookback::bench
