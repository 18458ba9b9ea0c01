// What the benchmarks of compaction share: data of which a share passes, memory, and rows of a
// table in which a compaction stands beside a copy of as many bytes and beside CUB.
#pragma once

#include "bench/cuda/arena.cuh"
#include "bench/cuda/cub_select_peer.hpp"

#include <lookback/kernels/device/compact.cuh>

#include <string>

namespace lookback::bench {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using device::compact_request;
using device::moved_items;

inline constexpr index_t many = index_t{1} << 28;

/// Which share passes, each row by itself or in runs of 1024.
struct share {
    int percent;
    bool clustered;

    std::string name() const {
        return std::to_string(percent) + " %" + (clustered ? " in runs" : "");
    }
    /// Rows of less than this pass.
    u32 threshold() const {
        return percent == 100 ? ~u32{0} : static_cast<u32>((u64{1} << 32) * percent / 100);
    }
};
inline constexpr share shares[] = {{0, false},   {1, false}, {10, false}, {50, false}, {90, false},
                                   {100, false}, {10, true}, {50, true},  {90, true}};

__host__ __device__ inline u32 item_of(index_t i, bool clustered) {
    const auto own = static_cast<u32>(test::scramble(static_cast<u64>(i)) >> 32);
    const auto run = static_cast<u32>(test::scramble(static_cast<u64>(i / 1024) + 77) >> 32);
    const u32 item = clustered ? (run & 0xfffff000U) | (own & 0xfff) : own;
    return item == ~u32{0} ? 0 : item;  // 100 % are below the greatest
}

static __global__ void fill_items(u32* items, index_t n, bool clustered) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        items[i] = item_of(i, clustered);
    }
}
static __global__ void fill_flags(std::uint8_t* flags, index_t n, share kind, u32 threshold) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        flags[i] = item_of(i, kind.clustered) < threshold ? 1 : 0;
    }
}
static __global__ void fill_runs(u32* items, index_t n, index_t length) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        items[i] = static_cast<u32>(test::scramble(
            static_cast<u64>(length > 1 ? static_cast<index_t>(test::scramble(i / length)) : i)));
    }
}
static __global__ void count_unlike_words(const u32* a, const u32* b, index_t n,
                                          unsigned long long* unlike) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        if (a[i] != b[i]) atomicAdd(unlike, 1);
    }
}

/// Memory of its own beside the arena's.
class extra {
public:
    extra() {
        check(cudaMalloc(&flags, many), "allocate");
        check(cudaMalloc(&words, many / 8), "allocate");
        check(cudaMalloc(&offsets, (many / tuning::offset_rows + 1) * sizeof(index_t)), "allocate");
        check(cudaMalloc(&count, 2 * sizeof(index_t)), "allocate");
    }
    extra(const extra&) = delete;
    extra& operator=(const extra&) = delete;
    ~extra() {
        cudaFree(flags);
        cudaFree(words);
        cudaFree(offsets);
        cudaFree(count);
    }
    index_t counted(int which) const {
        index_t answer = -1;
        check(cudaDeviceSynchronize(), "run");
        check(cudaMemcpy(&answer, count + which, sizeof(answer), cudaMemcpyDefault), "count");
        return answer;
    }
    std::uint8_t* flags = nullptr;
    u32* words = nullptr;
    index_t* offsets = nullptr;
    index_t* count = nullptr;  ///< ours, then CUB's
};

struct bench {
    const arena& a;
    const extra& e;

    /// One row: `bytes` must move; ours and CUB's leave the same bytes in a.out and a.other.
    template <class Ours, class Peer>
    void row(const std::string& name, index_t n, index_t item_bytes, index_t bytes_a_row, Ours ours,
             Peer peer) const {
        for (void* out : {a.out, a.other}) {
            check(cudaMemsetAsync(out, 0xA5, n * item_bytes, a.stream), "poison");
        }
        ours(a.stream);
        peer(a.stream);
        const index_t kept = e.counted(0);
        const bool right = kept == e.counted(1) && same(n * item_bytes);
        const index_t bytes = n * bytes_a_row + kept * item_bytes;
        const int repeats = n >= many ? 11 : 51;
        double ms[3] = {1e9, 1e9, 1e9};
        for (int round = 0; round < 2; ++round) {
            // A copy reads and writes: half as many bytes.
            ms[0] = std::min(ms[0], a.copy_ms(static_cast<std::size_t>(bytes) / 2, repeats));
            ms[1] = std::min(ms[1], median_ms(a.stream, repeats, ours));
            ms[2] = std::min(ms[2], median_ms(a.stream, repeats, peer));
        }
        std::printf("| %s | %.4f | %.4f | %.3f | %.4f | %.2f |%s\n", name.c_str(), ms[0], ms[1],
                    ms[0] / ms[1], ms[2], ms[2] / ms[1], right ? "" : " WRONG");
    }
    bool same(index_t bytes) const {
        count_unlike_words<<<2048, 256, 0, a.stream>>>(
            static_cast<const u32*>(a.out), static_cast<const u32*>(a.other), bytes / 4, a.unlike);
        return a.alike();
    }
    template <class T>
    T* in() const {
        return static_cast<T*>(a.in);
    }
    template <class T>
    T* out() const {
        return static_cast<T*>(a.out);
    }
    template <class T>
    T* other() const {
        return static_cast<T*>(a.other);
    }
    void items(index_t n, share kind) const {
        fill_items<<<2048, 256, 0, a.stream>>>(in<u32>(), n, kind.clustered);
        fill_flags<<<2048, 256, 0, a.stream>>>(e.flags, n, kind, kind.threshold());
    }
    template <class Row>
    compact_request<moved_items<Row>> request(index_t n) const {
        return {.rows = {in<Row>(), out<Row>(), nullptr}, .items = n, .count = e.count};
    }
    static device::rows_in_range<u32> below(u32 value) {
        return {core::make_key_order<u32>(core::key_kind::unsigned_integer, false, false), 0,
                value - 1};
    }
};

inline void headings(const char* first) {
    std::printf("\n| %s | floor ms | ms | of floor | CUB ms | x |\n|---|---|---|---|---|---|\n",
                first);
}

/// ours(stream) beside CUB's selection of items below the share's threshold.
template <class Ours>
void less_row(const bench& b, const std::string& name, index_t n, share kind, Ours ours) {
    const u32 value = kind.threshold();
    const auto peer = [&](cudaStream_t s) {
        std::size_t bytes = b.a.peer_bytes;
        check(cub_select::less(b.a.peer_memory, bytes, b.in<u32>(), value, b.other<u32>(),
                               b.e.count + 1, n, s),
              "CUB");
    };
    b.row(name, n, 4, 4, ours, peer);
}

template <class Policy>
void less_under(const bench& b, const std::string& name, index_t n, share kind) {
    auto source = bench::below(kind.threshold());
    auto request = b.request<u32>(n);
    if (kind.percent == 0) {
        source = bench::below(1);
        source.low = ~u32{0};  // none: nothing is so great
        source.span = 0;
    }
    less_row(b, name, n, kind, [&](cudaStream_t s) {
        if constexpr (std::is_void_v<Policy>) {
            check(device::compact(b.a.workspace, request, source, s), "compact");
        } else {
            check(device::compact_under<Policy>(b.a.workspace, request, source, s), "compact");
        }
    });
}

template <class Row, class Policy = void>
void flagged_row(const bench& b, const std::string& name, index_t n, bool bits, share kind) {
    const void* flags = b.e.flags;
    if (bits) flags = b.e.words;
    const device::memory_flags source{flags, bits};
    b.row(
        name + ", " + kind.name(), n, sizeof(Row), sizeof(Row) + (bits ? 0 : 1),
        [&](cudaStream_t s) {
            if constexpr (std::is_void_v<Policy>) {
                check(device::compact(b.a.workspace, b.request<Row>(n), source, s), "compact");
            } else {
                check(device::compact_under<Policy>(b.a.workspace, b.request<Row>(n), source, s),
                      "compact");
            }
        },
        [&](cudaStream_t s) {
            std::size_t bytes = b.a.peer_bytes;
            check(cub_select::flagged<Row>(b.a.peer_memory, bytes, b.in<Row>(), b.e.flags,
                                           b.other<Row>(), b.e.count + 1, n, s),
                  "CUB");
        });
}

template <class Policy = void>
void numbers_row(const bench& b, const std::string& name, share kind) {
    const compact_request<device::row_numbers<index_t>> request{
        .rows = {b.out<index_t>()}, .items = many / 2, .count = b.e.count};
    const device::memory_flags source{b.e.flags, false};
    b.row(
        name + ", " + kind.name(), many / 2, 8, 1,
        [&](cudaStream_t s) {
            if constexpr (std::is_void_v<Policy>) {
                check(device::compact(b.a.workspace, request, source, s), "compact");
            } else {
                check(device::compact_under<Policy>(b.a.workspace, request, source, s), "compact");
            }
        },
        [&](cudaStream_t s) {
            std::size_t bytes = b.a.peer_bytes;
            check(cub_select::numbers(b.a.peer_memory, bytes, b.e.flags, b.other<index_t>(),
                                      b.e.count + 1, many / 2, s),
                  "CUB");
        });
}

/// Other rows a lane, blocks an SM and walks than the policy has.
void tune(const bench& b);

}  // namespace lookback::bench
