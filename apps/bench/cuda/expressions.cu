// lookback-bench-cuda-expressions: expressions as mark sources on one GPU, step by step and, where
// they come to them, as range tests, against a source that the compiler made of the first one, and
// against a copy of the bytes that must move: each column once, and a bit a row. The last million
// marks are compared with the CPU's.
#include "bench/cuda/timing.cuh"
#include "common/expression.hpp"
#include "common/program_run.hpp"
#include "common/program_steps.hpp"

#include <lookback/kernels/core/find_terms.hpp>
#include <lookback/kernels/device/compact.cuh>
#include <lookback/kernels/device/row_machine.cuh>
#include <lookback/kernels/device/row_terms.cuh>

#include <string>

namespace lookback::bench {
namespace {

using core::index_t;
constexpr index_t rows = index_t{1} << 28;
constexpr int columns = 3;  // a: f32 in [0, 1), b: i32 in [0, 2000), c: as a
constexpr int repeats = 15;

const char* const expressions[] = {
    "a > 0.25 && a < 0.75 && b >= 100 && b != 777 && c < 0.9",
    "a > 0.25",
    "a > 0.25 && b < 1000",
    "a * a + c * c < 0.5 && b > 3 && b < 1900 && a != 0.5",
    "a < 0.5 and b in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)",
    "b % 7 == 3 && a / c > 0.5",
    "sqrt(a) < c",
    "b * 1000000000 > 99999999999999 && a < c",
    "a > 0.25 && a < 0.75 && b in (3, 5) && b < 1500 && c != 0.5 && c < 0.9",
};

__global__ void fill_column(std::uint32_t* column, int which) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x;
         i < rows + core::row_program::padding; i += index_t{gridDim.x} * blockDim.x) {
        std::uint64_t x = (static_cast<std::uint64_t>(i) * columns + which) * 0x9e3779b97f4a7c15ULL;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        const auto bits = static_cast<std::uint32_t>(x >> 32);
        const float real = static_cast<float>(bits >> 8) * 0x1p-24F;
        column[i] = which == 1 ? bits % 2000 : __float_as_uint(real);
    }
}

/// The first expression as the compiler sees it.
struct compiled_marks {
    const float* a;
    const std::int32_t* b;
    const float* c;

    __device__ __forceinline__ std::uint32_t marks(device::lane_place place) const {
        constexpr int part = 8;
        const index_t first = place.first - 31 * arch::lane();  // all tiles are whole
        std::uint32_t word = 0;
#pragma unroll 1
        for (int begin = 0; begin < 32; begin += part) {
            float left[part];
            std::int32_t whole[part];
            float right[part];
#pragma unroll
            for (int i = 0; i < part; ++i) {
                left[i] = a[first + 32 * (begin + i)];
                whole[i] = b[first + 32 * (begin + i)];
                right[i] = c[first + 32 * (begin + i)];
            }
#pragma unroll
            for (int i = 0; i < part; ++i) {
                const std::uint32_t row =
                    arch::ballot(left[i] > 0.25F && left[i] < 0.75F && whole[i] >= 100 &&
                                 whole[i] != 777 && right[i] < 0.9F);
                if (arch::lane() == begin + i) word = row;
            }
        }
        return word;
    }
};

template <class T>
T* on_device(const std::vector<T>& items) {
    T* memory = nullptr;
    check(cudaMalloc(&memory, items.size() * sizeof(T) + 16), "allocate");
    check(cudaMemcpy(memory, items.data(), items.size() * sizeof(T), cudaMemcpyDefault), "upload");
    return memory;
}

class expression_bench {
public:
    expression_bench() {
        for (std::uint32_t*& column : columns_) {
            check(cudaMalloc(&column, (rows + core::row_program::padding) * 4), "allocate");
            fill_column<<<1024, 256>>>(column, static_cast<int>(&column - columns_));
        }
        check(cudaMalloc(&words_, rows / 8), "allocate");
        check(cudaMalloc(&fault_, sizeof(*fault_)), "allocate");
        workspace_.bytes = device::compact_workspace_bytes(rows);
        check(cudaMalloc(&workspace_.memory, workspace_.bytes), "allocate");
        check(device::prepare(workspace_, nullptr), "prepare");
        const auto copy = [&](cudaStream_t stream) {
            check(cudaMemcpyAsync(columns_[2], columns_[0], rows * 4, cudaMemcpyDefault, stream),
                  "copy");
        };
        warm_up(nullptr, 0.4, copy);
        copy_ms_per_byte_ = median_ms(nullptr, repeats, copy) / (2.0 * rows * 4);
        fill_column<<<1024, 256>>>(columns_[2], 2);
        std::printf("copy: %.0f GB/s, read and written\n", 1e-6 / copy_ms_per_byte_);
    }

    void run() {
        std::printf("| expression, 2^28 rows | as | floor ms | ms | of floor |\n");
        const double bytes = (4.0 * columns + 0.125) * rows;
        tell(expressions[0], "compiled", bytes,
             time<tuning::mark_policy>(
                 compiled_marks{reinterpret_cast<const float*>(columns_[0]),
                                reinterpret_cast<const std::int32_t*>(columns_[1]),
                                reinterpret_cast<const float*>(columns_[2])}));
        for (const char* const text : expressions) measure(text);
    }

private:
    template <class Policy, class Source>
    double time(const Source& source) {
        using request = device::compact_request<device::marks_alone>;
        const request all{.rows = {words_, nullptr}, .items = rows};
        const auto work = [&](cudaStream_t stream) {
            check(device::compact_under<Policy>(workspace_, all, source, stream), "marks");
        };
        warm_up(nullptr, 0.3, work);
        return median_ms(nullptr, repeats, work);
    }
    void tell(const char* text, const std::string& as, double bytes, double ms) const {
        const double floor = bytes * copy_ms_per_byte_;
        std::printf("| `%s` | %s | %.4f | %.4f | %.3f |\n", text, as.c_str(), floor, ms,
                    floor / ms);
    }

    /// By its steps, and by range tests where it comes to them.
    void measure(const char* text) {
        using namespace apps;
        const program code = compile(parse_expression(text), [](const std::string& name,
                                                                std::size_t) {
            return program_input{name, false, false, name == "b" ? data_type::i32 : data_type::f32};
        });
        const program_steps steps = to_steps(code);
        std::vector<core::row_column> used;
        for (std::size_t c = 0; c < code.inputs.size(); ++c) {
            used.push_back({columns_[code.inputs[c].name[0] - 'a'], steps.columns[c]});
        }
        const core::row_program loaded{on_device(steps.steps),
                                       static_cast<int>(steps.steps.size()),
                                       steps.result,
                                       on_device(used),
                                       on_device(steps.constants),
                                       0,
                                       fault_};
        const bool few = steps.value_slots <= core::few_value_slots;
        const double ms =
            few ? time<tuning::program_policy>(device::program_marks<core::few_value_slots>{loaded})
                : time<tuning::program_policy>(device::program_marks<core::value_slots>{loaded});
        const double bytes = (4.0 * static_cast<double>(used.size()) + 0.125) * rows;
        tell(text, std::to_string(steps.steps.size()) + " steps", bytes, ms);
        verify(code, used);
        const auto terms =
            core::find_terms(steps.steps, steps.constants, steps.columns, steps.result);
        if (!terms) return;
        check(cudaMemset(words_, 0x5a, rows / 8), "spoil the marks");
        const device::term_marks source{on_device(std::vector<core::row_terms>{*terms}),
                                        loaded.columns};
        tell(text, std::to_string(terms->count) + " range tests", bytes,
             time<tuning::program_policy>(source));
        verify(code, used);
    }

    void verify(const apps::program& code, const std::vector<core::row_column>& used) const {
        constexpr index_t part = 1 << 20;
        constexpr index_t first = rows - part;
        std::vector<std::vector<std::byte>> values;
        std::vector<apps::input_rows> inputs;
        for (const core::row_column& column : used) {
            values.emplace_back(part * 4);
            check(cudaMemcpy(values.back().data(), static_cast<const float*>(column.data) + first,
                             part * 4, cudaMemcpyDefault),
                  "download");
            inputs.push_back({values.back().data(), 4});
        }
        std::vector<std::uint64_t> expected(part / 64);
        std::vector<std::uint64_t> got(part / 64);
        apps::program_run(code).mark(inputs, first, part, expected.data());
        check(cudaMemcpy(got.data(), words_ + first / 32, part / 8, cudaMemcpyDefault), "download");
        if (got == expected) return;
        std::printf("the marks differ from the CPU's\n");
        std::exit(1);
    }

    std::uint32_t* columns_[columns] = {};
    std::uint32_t* words_ = nullptr;
    std::uint32_t* fault_ = nullptr;
    device::scan_workspace workspace_{};
    double copy_ms_per_byte_ = 0;
};

}  // namespace
}  // namespace lookback::bench

int main() {
    lookback::bench::expression_bench().run();
    return 0;
}
