// lookback-bench-cuda-compact [items] [rows] [small] [staged] [tune]: stable compaction on one GPU
// against a copy of as many bytes as must move, and against the selections of the toolkit's CUB, in
// turn in one process. Outputs are compared with CUB's. Without an argument: all but tune.
#include "bench/cuda/compact_rows.cuh"

#include <lookback/kernels/device/compact_staged.cuh>
#include <lookback/kernels/device/compact_words.cuh>

namespace lookback::bench {
namespace {

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

void make_words(const bench& b, index_t n) {
    check(device::compact(
              b.a.workspace,
              compact_request<device::marks_alone>{.rows = {b.e.words, b.e.offsets}, .items = n},
              device::byte_flags{b.e.flags}, b.a.stream),
          "compact");
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
