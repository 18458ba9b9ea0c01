// The cuts that tuning/compact.hpp chose from: `lookback-bench-cuda-compact tune`.
#include "bench/cuda/compact_rows.cuh"

namespace lookback::bench {
namespace {

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

}  // namespace

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

}  // namespace lookback::bench
