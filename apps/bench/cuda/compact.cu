// lookback-bench-cuda-compact [items] [rows] [small] [staged] [tune]: stable compaction on one GPU
// against a copy of as many bytes as must move, and against the selections of the toolkit's CUB, in
// turn in one process. Outputs are compared with CUB's. Without an argument: all but tune.
#include "bench/cuda/arena.cuh"
#include "bench/cuda/cub_select_peer.hpp"

#include <lookback/kernels/device/compact.cuh>
#include <lookback/kernels/device/compact_staged.cuh>
#include <lookback/kernels/device/compact_words.cuh>

#include <string>

namespace lookback::bench {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using device::compact_request;
using device::moved_items;

constexpr index_t many = index_t{1} << 28;

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
constexpr share shares[] = {{0, false},   {1, false}, {10, false}, {50, false}, {90, false},
                            {100, false}, {10, true}, {50, true},  {90, true}};

__host__ __device__ u32 item_of(index_t i, bool clustered) {
    const auto own = static_cast<u32>(test::scramble(static_cast<u64>(i)) >> 32);
    const auto run = static_cast<u32>(test::scramble(static_cast<u64>(i / 1024) + 77) >> 32);
    const u32 item = clustered ? (run & 0xfffff000U) | (own & 0xfff) : own;
    return item == ~u32{0} ? 0 : item;  // 100 % are below the greatest
}

__global__ void fill_items(u32* items, index_t n, bool clustered) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        items[i] = item_of(i, clustered);
    }
}
__global__ void fill_flags(std::uint8_t* flags, index_t n, share kind, u32 threshold) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        flags[i] = item_of(i, kind.clustered) < threshold ? 1 : 0;
    }
}
__global__ void fill_runs(u32* items, index_t n, index_t length) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        items[i] = static_cast<u32>(test::scramble(
            static_cast<u64>(length > 1 ? static_cast<index_t>(test::scramble(i / length)) : i)));
    }
}
__global__ void count_unlike_words(const u32* a, const u32* b, index_t n,
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

void headings(const char* first) {
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

void items(const bench& b) {
    headings("items below a value, u32, 2^28");
    for (const share kind : shares) {
        b.items(many, kind);
        less_under<void>(b, kind.name(), many, kind);
    }
}

void small(const bench& b) {
    headings("items below a value, u32, 50 %");
    for (const int log2_items : {10, 12, 14, 16, 18, 20, 22, 24, 26}) {
        const index_t n = index_t{1} << log2_items;
        b.items(n, {50, false});
        less_under<void>(b, "2^" + std::to_string(log2_items), n, {50, false});
    }
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

void make_words(const bench& b, index_t n) {
    check(device::compact(
              b.a.workspace,
              compact_request<device::marks_alone>{.rows = {b.e.words, b.e.offsets}, .items = n},
              device::byte_flags{b.e.flags}, b.a.stream),
          "compact");
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

void unique_row(const bench& b, index_t length) {
    fill_runs<<<2048, 256, 0, b.a.stream>>>(b.in<u32>(), many, length);
    const device::rows_that_differ<u32> source{
        core::make_key_order<u32>(core::key_kind::unsigned_integer, false, false), b.in<u32>()};
    b.row(
        "unique u32, runs of " + std::to_string(length), many, 4, 4,
        [&](cudaStream_t s) {
            check(device::compact(b.a.workspace, b.request<u32>(many), source, s), "compact");
        },
        [&](cudaStream_t s) {
            std::size_t bytes = b.a.peer_bytes;
            check(cub_select::unique(b.a.peer_memory, bytes, b.in<u32>(), b.other<u32>(),
                                     b.e.count + 1, many, s),
                  "CUB");
        });
}

/// Five columns of u32 by flags as bytes; CUB moves one after the other.
void columns_row(const bench& b, share kind) {
    constexpr int columns = 5;
    constexpr index_t n = many / 2;
    const auto column = [&](int c) {
        auto request = b.request<u32>(n);
        request.rows.in += c * n;
        request.rows.kept += c * n;
        return request;
    };
    fill_items<<<2048, 256, 0, b.a.stream>>>(b.in<u32>(), columns * n, false);
    b.row(
        "five columns u32, flags as bytes, " + kind.name(), n, columns * 4, columns * 4 + 1,
        [&](cudaStream_t s) {
            check(device::compact(
                      b.a.workspace,
                      compact_request<device::marks_alone>{
                          .rows = {b.e.words, b.e.offsets}, .items = n, .count = b.e.count},
                      device::memory_flags{b.e.flags, false}, s),
                  "compact");
            for (int c = 0; c < columns; ++c) {
                check(device::move_by_marks(column(c), b.e.words, b.e.offsets, s), "move");
            }
        },
        [&](cudaStream_t s) {
            for (int c = 0; c < columns; ++c) {
                std::size_t bytes = b.a.peer_bytes;
                check(
                    cub_select::flagged<u32>(b.a.peer_memory, bytes, b.in<u32>() + c * n, b.e.flags,
                                             b.other<u32>() + c * n, b.e.count + 1, n, s),
                    "CUB");
            }
        });
}

/// A column of rows of 4, 12 bytes by bits, word by word, beside the same in 4 bytes by CUB.
void wide_row(const bench& b, index_t words, share kind) {
    const index_t n = many / 4;
    make_words(b, n);
    b.row(
        "rows of " + std::to_string(4 * words) + " bytes, word by word, " + kind.name(), n,
        4 * words, 4 * words,
        [&](cudaStream_t s) {
            check(device::compact(
                      b.a.workspace,
                      compact_request<device::marks_alone>{
                          .rows = {b.e.words, b.e.offsets}, .items = n, .count = b.e.count},
                      device::memory_flags{b.e.flags, false}, s),
                  "compact");
            check(device::move_wide(
                      device::wide_rows<u32>{b.in<u32>(), b.out<u32>(), nullptr, words, n,
                                             compact_request<moved_items<u32>>::ample, 0},
                      b.e.words, b.e.offsets, s),
                  "move");
        },
        [&](cudaStream_t s) {
            std::size_t bytes = b.a.peer_bytes;
            if (words == 1) {
                check(cub_select::flagged<u32>(b.a.peer_memory, bytes, b.in<u32>(), b.e.flags,
                                               b.other<u32>(), b.e.count + 1, n, s),
                      "CUB");
            } else {
                check(cudaMemcpyAsync(b.e.count + 1, b.e.count, sizeof(index_t), cudaMemcpyDefault,
                                      s),
                      "count");
                check(cudaMemcpyAsync(b.a.other, b.a.out, n * words * 4, cudaMemcpyDefault, s),
                      "copy");
            }
        });
}

void rows(const bench& b) {
    headings("rows by flags, 2^28 rows of 4 bytes, 2^27 of 8, 2^26 of 16");
    for (const share kind :
         {share{10, false}, share{50, false}, share{90, false}, share{50, true}}) {
        b.items(many, kind);
        flagged_row<u32>(b, "u32, flags as bytes", many, false, kind);
        make_words(b, many);
        flagged_row<u32>(b, "u32, flags as bits", many, true, kind);
        flagged_row<u64>(b, "u64, flags as bytes", many / 2, false, kind);
        flagged_row<row_of_16>(b, "16 bytes, flags as bytes", many / 4, false, kind);
        numbers_row(b, "numbers i64, flags as bytes", kind);
        columns_row(b, kind);
        wide_row(b, 1, kind);
        wide_row(b, 3, kind);
    }
    for (const index_t length : {1, 2, 10, 100}) unique_row(b, length);
}

/// The stages, each by itself.
void staged(const bench& b) {
    constexpr index_t n = many / 2;
    const share kind{50, false};
    b.items(n, kind);
    auto* offsets = static_cast<index_t*>(nullptr);
    check(cudaMalloc(&offsets, n * sizeof(index_t)), "allocate");
    const auto mark = [&](cudaStream_t s) {
        check(device::mark_rows_as_bytes(b.in<u32>(), n, bench::below(kind.threshold()), false,
                                         false, b.e.flags, s),
              "mark");
    };
    const auto add_up = [&](cudaStream_t s) {
        check(arch::launch(device::widen_flags<index_t>, device::gather_grid(n), s, b.e.flags,
                           offsets, n),
              "widen");
        check(device::scan(b.a.workspace, device::scan_request<index_t>{offsets, offsets, n, true},
                           core::plus{}, s),
              "scan");
    };
    const auto scatter = [&](cudaStream_t s) {
        check(arch::launch(device::scatter_rows<u32>, device::gather_grid(n), s, b.e.flags, offsets,
                           b.in<u32>(), b.out<u32>(), n, index_t{1}),
              "scatter");
    };
    const auto fused = [&](cudaStream_t s) {
        check(device::compact(b.a.workspace, b.request<u32>(n), bench::below(kind.threshold()), s),
              "compact");
    };
    mark(b.a.stream);
    add_up(b.a.stream);
    const double ms[] = {median_ms(b.a.stream, 11, mark), median_ms(b.a.stream, 11, add_up),
                         median_ms(b.a.stream, 11, scatter), median_ms(b.a.stream, 11, fused)};
    std::printf(
        "\n| u32 below a value, 2^27, 50 %% | flags | offsets | scatter | all stages | fused |\n"
        "|---|---|---|---|---|---|\n| ms | %.4f | %.4f | %.4f | %.4f | %.4f |\n"
        "| bytes a row | 5 | 25 | 15 | 45 | 6 |\n",
        ms[0], ms[1], ms[2], ms[0] + ms[1] + ms[2], ms[3]);
    cudaFree(offsets);
}

template <int Rows, int Blocks, tuning::scan_walk Walk = tuning::scan_walk::window>
struct cut : tuning::compact_policy {
    static constexpr int rows = Rows;
    static constexpr int blocks_per_sm = Blocks;
    static constexpr tuning::scan_walk walk = Walk;
};

template <int Rows, int Blocks>
void tune_less(const bench& b, share kind) {
    less_under<cut<Rows, Blocks>>(
        b, std::to_string(Rows) + " rows, " + std::to_string(Blocks) + " blocks, " + kind.name(),
        many, kind);
}

template <int Rows, tuning::scan_walk Walk>
void tune_small(const bench& b, int log2_items) {
    const index_t n = index_t{1} << log2_items;
    if (Walk == tuning::scan_walk::group && n > Rows * 256 * 1024) return;
    less_under<cut<Rows, 4, Walk>>(b,
                                   std::to_string(Rows) + " rows, " +
                                       (Walk == tuning::scan_walk::group ? "group" : "window") +
                                       ", 2^" + std::to_string(log2_items),
                                   n, {50, false});
}

template <class Row, int Rows, int Blocks>
void tune_flagged(const bench& b, index_t n, share kind) {
    flagged_row<Row, cut<Rows, Blocks>>(b,
                                        std::to_string(sizeof(Row)) + " bytes, " +
                                            std::to_string(Rows) + " rows, " +
                                            std::to_string(Blocks) + " blocks",
                                        n, false, kind);
}

template <int Rows, int Blocks>
void tune_numbers(const bench& b, share kind) {
    numbers_row<cut<Rows, Blocks>>(
        b, "numbers, " + std::to_string(Rows) + " rows, " + std::to_string(Blocks) + " blocks",
        kind);
}

void tune(const bench& b) {
    headings("rows a lane, blocks an SM; u32, 2^28");
    for (const share kind : {share{1, false}, share{10, false}, share{50, false}}) {
        b.items(many, kind);
        tune_less<10, 4>(b, kind);
        tune_less<14, 3>(b, kind);
    }
    headings("rows a lane, blocks an SM; by flags as bytes");
    for (const share kind : {share{10, false}, share{50, false}}) {
        b.items(many, kind);
        tune_flagged<u32, 8, 5>(b, many, kind);
        tune_flagged<u32, 10, 4>(b, many, kind);
        tune_flagged<u32, 6, 6>(b, many, kind);
        tune_flagged<u64, 8, 5>(b, many / 2, kind);
        tune_flagged<u64, 10, 4>(b, many / 2, kind);
        tune_flagged<row_of_16, 8, 5>(b, many / 4, kind);
        tune_flagged<row_of_16, 10, 4>(b, many / 4, kind);
        tune_numbers<4, 5>(b, kind);
        tune_numbers<8, 3>(b, kind);
    }
    headings("rows a lane, walk; u32");
    for (const int log2_items : {10, 14, 16, 18, 19, 20, 21}) {
        b.items(index_t{1} << log2_items, {50, false});
        tune_small<1, tuning::scan_walk::group>(b, log2_items);
        tune_small<2, tuning::scan_walk::group>(b, log2_items);
        tune_small<4, tuning::scan_walk::group>(b, log2_items);
        tune_small<8, tuning::scan_walk::group>(b, log2_items);
        tune_small<4, tuning::scan_walk::window>(b, log2_items);
        tune_small<10, tuning::scan_walk::window>(b, log2_items);
    }
    std::printf(
        "\n| u32 by flags as bytes, 2^28 | floor ms | apart | by ticket | in place |\n"
        "|---|---|---|---|---|\n");
    for (const share kind : {share{10, false}, share{50, false}, share{100, false}}) {
        b.items(many, kind);
        const device::memory_flags source{b.e.flags, false};
        double ms[3];
        for (int way = 0; way < 3; ++way) {
            auto request = b.request<u32>(many);
            request.in_place = way > 0;
            if (way == 2) request.rows.kept = b.in<u32>();
            ms[way] = median_ms(b.a.stream, 11, [&](cudaStream_t s) {
                check(device::compact(b.a.workspace, request, source, s), "compact");
            });
        }
        const auto bytes = static_cast<std::size_t>(many * 5 + b.e.counted(0) * 4) / 2;
        std::printf("| %s | %.4f | %.4f | %.4f | %.4f |\n", kind.name().c_str(),
                    b.a.copy_ms(bytes, 11), ms[0], ms[1], ms[2]);
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
    const arena a((std::size_t{1} << 30) * 3);
    const extra e;
    const bench b{a, e};
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    warm_up(a.stream, 0.4, [&](cudaStream_t s) {
        check(cudaMemcpyAsync(a.out, a.in, std::size_t{1} << 28, cudaMemcpyDeviceToDevice, s),
              "copy");
    });
    if (wants("items")) items(b);
    if (wants("small")) small(b);
    if (wants("rows")) rows(b);
    if (wants("staged")) staged(b);
    if (wants("tune")) tune(b);
}
