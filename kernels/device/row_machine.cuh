// Level L5 (device): runs the steps of an expression over 32 rows a lane, a part of them at a time:
// each step is decoded once for all rows of a warp's part.
// Invariant: the marks are those of the CPU, bit for bit: both use core/row_values.hpp.
#pragma once

#include <lookback/kernels/device/compact_marks.cuh>
#include <lookback/kernels/device/row_operands.cuh>

namespace lookback::device {

/// What an operation on single values gives: a value, or an answer.
template <class T>
struct costly_result {
    T value{};
    bool truth = false;
    bool fault = false;
};

template <class T>
LOOKBACK_NOINLINE __device__ costly_result<T> costly(core::opcode op, T left, T right) {
    costly_result<T> result;
    const auto compute = [&](auto f) { result.value = f(left, right, result.fault); };
    if (core::is_comparison(op)) {
        core::with_comparison<T>(op, [&](auto holds) { result.truth = holds(left, right); });
    } else if (core::is_costly_pair(op)) {
        core::with_costly_pair<T>(op, compute);
    } else if (core::is_simple_pair(op)) {
        core::with_simple_pair<T>(op, compute);
    } else if constexpr (core::is_real<T>) {
        if (core::is_single(op)) {
            core::with_single<T>(op, [&](auto f) { result.value = f(left); });
        } else {
            result.truth = core::test_real(op, left);
        }
    }
    return result;
}

/// One lane of a warp that runs a program over `Rows` * 32 neighbouring rows; the lane has every
/// 32nd of them.
template <int Threads, int Rows, int Slots>
class row_machine : row_operands<Threads, Rows, Slots> {
    using base = row_operands<Threads, Rows, Slots>;
    using base::all;
    using base::fetch;
    using base::first_;
    using base::high_marks_;
    using base::low_marks_;
    using base::marks;
    using base::marks_of;
    using base::program_;
    using base::rows_;
    using base::set_marks;
    using base::values_;
    using typename base::kind;

public:
    using typename base::slots;

    __device__ __forceinline__ row_machine(const row_program& program,
                                           typename slots::shared& memory)
        : base(program, memory) {}

    /// Bit i: the result in row first + 32 * i + lane. Rows from `rows` on do not exist: whatever
    /// they hold is read, and has no faults.
    __device__ __forceinline__ std::uint32_t run(index_t first, int rows) {
        first_ = first;
        rows_ = rows;
        low_marks_ = 0;
        high_marks_ = 0;
        row_step next = load_step(0);
#pragma unroll 1
        for (int at = 0; at < program_.count; ++at) {
            const row_step step = next;
            if (at + 1 < program_.count) next = load_step(at + 1);
            execute(step);
        }
        return marks_of(program_.result);
    }

private:
    using opcode = core::opcode;
    using value_type = core::value_type;

    __device__ __forceinline__ row_step load_step(int at) const {
        row_step step{};
        if (at >= program_.count) return step;
        const uint4 words = arch::load_uniform(program_.steps + at);
        memcpy(static_cast<void*>(&step), &words, sizeof(step));
        return step;
    }

    // Steps.

    __device__ __forceinline__ void execute(const row_step& step) {
        switch (step.op) {
            case opcode::logical_and:
            case opcode::logical_or:
            case opcode::logical_not:
                return combine(step);
            case opcode::convert:
                return convert(step);
            case opcode::order_exactly:
                return order_exactly(step);
            default:
                break;
        }
        switch (step.type) {
            case value_type::boolean:
                return combine(step);
            case value_type::i64:
                return execute_simple<std::int64_t>(step);
            case value_type::u64:
                return execute_simple<std::uint64_t>(step);
            case value_type::f32:
                return execute_simple<float>(step);
            case value_type::f64:
                return execute_simple<double>(step);
            default:
                return execute_costly<core::int128>(step);
        }
    }

    __device__ __forceinline__ void combine(const row_step& step) {
        const std::uint32_t left = marks_of(step.left);
        const std::uint32_t right = step.op == opcode::logical_not ? all : marks_of(step.right);
        std::uint32_t bits = left & right;
        if (step.op == opcode::logical_or || step.op == opcode::bit_or) bits = left | right;
        if (step.op == opcode::logical_not || step.op == opcode::bit_xor) bits = left ^ right;
        set_marks(step.target, bits);
    }

    template <class T>
    __device__ __forceinline__ void execute_simple(const row_step& step) {
        const bool compares = core::is_comparison(step.op);
        if (!compares && !core::is_simple_pair(step.op)) return execute_costly<T>(step);
        T left[Rows];
        fetch(step.left, left);
        if (compares && step.right.is == kind::constant) {
            const T right = this->template constant<T>(step.right);
            return compare(
                step, [&](int i, auto holds) { return holds(left[i], right); }, right);
        }
        T right[Rows];
        fetch(step.right, right);
        if (compares) {
            return compare(
                step, [&](int i, auto holds) { return holds(left[i], right[i]); }, right[0]);
        }
        core::with_simple_pair<T>(step.op, [&](auto op) {
#pragma unroll
            for (int i = 0; i < Rows; ++i) {
                bool ignored = false;
                values_.template set<T>(step.target, i, op(left[i], right[i], ignored));
            }
        });
    }

    template <class T, class Ask>
    __device__ __forceinline__ void compare(const row_step& step, Ask ask, T /*type*/) {
        core::with_comparison<T>(step.op, [&](auto holds) {
            std::uint32_t bits = 0;
#pragma unroll
            for (int i = 0; i < Rows; ++i) bits |= (ask(i, holds) ? 1U : 0U) << i;
            set_marks(step.target, bits);
        });
    }

    /// A row at a time, by a call, so that what is long is compiled once.
    template <class T>
    __device__ __forceinline__ void execute_costly(const row_step& step) {
        const bool tells = core::gives_truth(step.op);
        std::uint32_t bits = 0;
#pragma unroll 1
        for (int i = 0; i < Rows; ++i) {
            const T left = this->template fetch_one<T>(step.left, i);
            T right{};
            if (step.right.is != kind::none) right = this->template fetch_one<T>(step.right, i);
            const costly_result<T> result = costly(step.op, left, right);
            if (tells) {
                bits |= (result.truth ? 1U : 0U) << i;
            } else {
                values_.template set<T>(step.target, i, result.value);
            }
            if (result.fault) fail(step, i);
        }
        if (tells) set_marks(step.target, bits);
    }

    __device__ __forceinline__ void fail(const row_step& step, int i) {
        if (!step.checked || 32 * i + arch::lane() >= rows_) return;
        if (step.guard != row_step::no_guard && (marks(step.guard) >> i & 1) == 0) return;
        *program_.fault = 1;  // by whoever finds one: all write the same
    }

    __device__ __forceinline__ void convert(const row_step& step) {
        switch (step.from) {
            case value_type::boolean: {
                const std::uint32_t bits = marks_of(step.left);
                return convert_from<std::int64_t>(step, [&](int i) { return bits >> i & 1; });
            }
            case value_type::u64:
                return convert_from<std::uint64_t>(step);
            case value_type::i128:
                return convert_from<core::int128>(step);
            case value_type::f32:
                return convert_from<float>(step);
            case value_type::f64:
                return convert_from<double>(step);
            default:
                return convert_from<std::int64_t>(step);
        }
    }
    template <class From>
    __device__ __forceinline__ void convert_from(const row_step& step) {
        convert_from<From>(step,
                           [&](int i) { return this->template fetch_one<From>(step.left, i); });
    }
    template <class From, class Value>
    __device__ __forceinline__ void convert_from(const row_step& step, Value value) {
#pragma unroll 1
        for (int i = 0; i < Rows; ++i) {
            const From from = static_cast<From>(value(i));
            if (step.type == value_type::f64) {
                values_.template set<double>(step.target, i, static_cast<double>(from));
            } else if (step.type == value_type::f32) {
                values_.template set<float>(step.target, i, static_cast<float>(from));
            } else if constexpr (!core::is_real<From>) {
                if (step.type == value_type::i128) {
                    values_.template set<core::int128>(step.target, i,
                                                       static_cast<core::int128>(from));
                } else {
                    values_.template set<std::uint64_t>(step.target, i,
                                                        static_cast<std::uint64_t>(from));
                }
            }
        }
    }

    __device__ __forceinline__ void order_exactly(const row_step& step) {
#pragma unroll 1
        for (int i = 0; i < Rows; ++i) {
            const auto whole = this->template fetch_one<core::int128>(step.left, i);
            const auto real = this->template fetch_one<double>(step.right, i);
            values_.template set<std::int64_t>(step.target, i, core::exact_order(whole, real));
        }
    }
};

/// The results of up to 1024 rows from `first` on, 32 of them a lane, by a warp of a block of at
/// most 256 threads.
template <int Slots>
LOOKBACK_NOINLINE __device__ std::uint32_t run_program(const row_program program, index_t first,
                                                       int rows) {
    constexpr int part_rows = 8;  // of a lane at a time
    using machine = row_machine<256, part_rows, Slots>;
    __shared__ typename machine::slots::shared values;
    machine own(program, values);
    std::uint32_t word = 0;
#pragma unroll 1
    for (int part = 0; part < 32 / part_rows; ++part) {
        const int before = 32 * part_rows * part;
        if (before >= rows) break;
        const std::uint32_t bits = own.run(first + before, rows - before);
#pragma unroll
        for (int i = 0; i < part_rows; ++i) {
            const std::uint32_t row = arch::ballot((bits >> i & 1) != 0);
            if (arch::lane() == part * part_rows + i) word = row;
        }
    }
    return word;
}

/// A mark source: the rows in which an expression is true. `Slots`: core::few_value_slots where the
/// program's values fit them, else core::value_slots.
template <int Slots>
struct program_marks {
    row_program program;

    __device__ __forceinline__ std::uint32_t marks(lane_place place) const {
        const int own = place.left < 0 ? 0 : place.left > 32 ? 32 : place.left;
        const auto rows = static_cast<int>(arch::sum(static_cast<std::uint32_t>(own)));
        if (rows == 0) return 0;
        return run_program<Slots>(program, place.first - 32 * arch::lane(), rows);
    }
};

}  // namespace lookback::device
