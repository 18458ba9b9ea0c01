// The loops of programs: an instruction at a time over blocks of rows that stay in cache, so that
// choosing the loop costs nothing beside it.
#include "common/program_run.hpp"

#include "common/program_loads.hpp"
#include "common/program_places.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace lookback::apps {
namespace {

// Some registers of 8 bytes a row stay in the first two levels of cache.
constexpr std::size_t block_rows = 1024;

template <class T>
struct type_tag {
    using type = T;
};

template <class Body>
void with_type(value_type type, const Body& body) {
    switch (type) {
        case value_type::boolean:
            return body(type_tag<std::uint8_t>());
        case value_type::i64:
            return body(type_tag<std::int64_t>());
        case value_type::u64:
            return body(type_tag<std::uint64_t>());
        case value_type::i128:
            return body(type_tag<int128>());
        case value_type::f32:
            return body(type_tag<float>());
        case value_type::f64:
            return body(type_tag<double>());
        case value_type::text:
            return body(type_tag<std::string_view>());
    }
}

template <class T>
inline constexpr bool is_text = std::is_same_v<T, std::string_view>;
using core::is_real;

template <class Op, class T, class Out>
void loop(const T* left, const T* right, std::size_t n, Out* out, Op op) {
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Out>(op(left[i], right[i]));
}

std::string_view fault_text(opcode op) {
    switch (op) {
        case opcode::remainder:
            return "a remainder of a division by zero";
        case opcode::shift_left:
        case opcode::shift_right:
            return "a shift by a negative number, or beyond 128 bits";
        default:
            return "a result that does not fit 128 bits";
    }
}

}  // namespace

class program_run::machine {
public:
    explicit machine(const program& of) : code_(of) { place_registers(); }

    std::optional<program_fault> mark(std::span<const input_rows> inputs, std::uint64_t first_row,
                                      std::size_t rows, std::uint64_t* words) {
        inputs_ = inputs;
        for (std::size_t begin = 0; begin < rows; begin += block_rows) {
            const std::size_t n = std::min(block_rows, rows - begin);
            begin_ = begin;
            rows_ = n;
            first_row_ = first_row;
            fault_.reset();
            for (const instruction& each : code_.code) run(each);
            if (fault_) return fault_;
            const auto* flags = reg<std::uint8_t>(code_.result);
            for (std::size_t w = 0; w * 64 < n; ++w) {
                std::uint64_t word = 0;
                const std::size_t count = std::min<std::size_t>(64, n - w * 64);
                for (std::size_t i = 0; i < count; ++i) {
                    word |= static_cast<std::uint64_t>(flags[w * 64 + i]) << i;
                }
                words[begin / 64 + w] = word;
            }
        }
        return std::nullopt;
    }

private:
    void place_registers() {
        const register_places places = places_of(code_, block_rows);
        memory_ = std::make_unique<std::max_align_t[]>(places.bytes / sizeof(std::max_align_t) + 1);
        for (const std::size_t offset : places.offsets) {
            registers_.push_back(reinterpret_cast<std::byte*>(memory_.get()) + offset);
        }
    }

    template <class T>
    T* reg(int which) {
        return reinterpret_cast<T*>(registers_[static_cast<std::size_t>(which)]);
    }

    void fail(const instruction& at, std::size_t i) {
        if (at.guard >= 0 && reg<std::uint8_t>(at.guard)[i] == 0) return;
        const std::uint64_t row = first_row_ + begin_ + i;
        if (fault_ && fault_->row <= row) return;
        fault_ = program_fault{row, at.column, std::string(fault_text(at.op))};
    }

    void run(const instruction& at) {
        switch (at.op) {
            case opcode::load:
                return load_input(code_.inputs[at.input], at.type, inputs_[at.input], begin_, rows_,
                                  registers_[static_cast<std::size_t>(at.target)]);
            case opcode::convert:
                return convert(at);
            case opcode::order_exactly:
                return order_exactly(at);
            case opcode::logical_and:
                return loop(reg<std::uint8_t>(at.left), reg<std::uint8_t>(at.right), rows_,
                            reg<std::uint8_t>(at.target), std::bit_and<>());
            case opcode::logical_or:
                return loop(reg<std::uint8_t>(at.left), reg<std::uint8_t>(at.right), rows_,
                            reg<std::uint8_t>(at.target), std::bit_or<>());
            case opcode::logical_not:
                return each<std::uint8_t, std::uint8_t>(
                    at, [](std::uint8_t a) { return static_cast<std::uint8_t>(a ^ 1U); });
            case opcode::row: {
                auto* out = reg<std::int64_t>(at.target);
                for (std::size_t i = 0; i < rows_; ++i) {
                    out[i] = static_cast<std::int64_t>(first_row_ + begin_ + i);
                }
                return;
            }
            default:
                return with_type(at.type,
                                 [&](auto tag) { run_typed<typename decltype(tag)::type>(at); });
        }
    }

    template <class T, class Out, class Op>
    void each(const instruction& at, Op op) {
        const T* in = reg<T>(at.left);
        Out* out = reg<Out>(at.target);
        for (std::size_t i = 0; i < rows_; ++i) out[i] = static_cast<Out>(op(in[i]));
    }

    template <class T>
    void run_typed(const instruction& at) {
        switch (at.op) {
            case opcode::constant:
                return fill<T>(at);
            case opcode::less:
            case opcode::less_equal:
            case opcode::equal:
            case opcode::not_equal:
                return core::with_comparison<T>(at.op, [&](auto op) { compare<T>(at, op); });
            default:
                break;
        }
        if constexpr (is_real<T>) {
            run_real<T>(at);
        } else if constexpr (!is_text<T>) {
            run_pair<T>(at);
        }
    }

    template <class T, class Op>
    void compare(const instruction& at, Op op) {
        loop(reg<T>(at.left), reg<T>(at.right), rows_, reg<std::uint8_t>(at.target), op);
    }

    template <class T>
    void fill(const instruction& at) {
        const program_constant& value = code_.constants[at.input];
        T item;
        if constexpr (is_text<T>) {
            item = value.text;
        } else if constexpr (is_real<T>) {
            item = static_cast<T>(value.real);
        } else {
            item = static_cast<T>(value.whole);
        }
        std::fill_n(reg<T>(at.target), rows_, item);
    }

    template <class T>
    void run_real(const instruction& at) {
        switch (at.op) {
            case opcode::round_half:
            case opcode::negate:
            case opcode::absolute:
            case opcode::floor:
            case opcode::square_root:
                return core::with_single<T>(at.op, [&](auto op) { each<T, T>(at, op); });
            case opcode::is_nan:
                return each<T, std::uint8_t>(
                    at, [](T a) { return core::test_real(opcode::is_nan, a); });
            case opcode::is_finite:
                return each<T, std::uint8_t>(
                    at, [](T a) { return core::test_real(opcode::is_finite, a); });
            default:
                return run_pair<T>(at);
        }
    }

    template <class T>
    void run_pair(const instruction& at) {
        const auto body = [&](auto op) { pair<T>(at, op); };
        if (core::is_costly_pair(at.op)) return core::with_costly_pair<T>(at.op, body);
        core::with_simple_pair<T>(at.op, body);
    }

    /// Types are chosen so that results fit, unless the instruction is checked.
    template <class T, class Op>
    void pair(const instruction& at, Op op) {
        const T* left = reg<T>(at.left);
        const T* right = reg<T>(at.right);
        T* out = reg<T>(at.target);
        bool fault = false;
        if (!at.checked) {
            for (std::size_t i = 0; i < rows_; ++i) out[i] = op(left[i], right[i], fault);
            return;
        }
        for (std::size_t i = 0; i < rows_; ++i) {
            out[i] = op(left[i], right[i], fault);
            if (fault) fail(at, i);
        }
    }

    void convert(const instruction& at) {
        with_type(at.from, [&](auto from) {
            with_type(at.type, [&](auto to) {
                using From = typename decltype(from)::type;
                using To = typename decltype(to)::type;
                // Reals never become whole: that pair is compared exactly.
                constexpr bool possible =
                    !is_text<From> && !is_text<To> && (is_real<To> || !is_real<From>);
                if constexpr (possible) {
                    each<From, To>(at, [](From a) { return static_cast<To>(a); });
                }
            });
        });
    }

    void order_exactly(const instruction& at) {
        const auto* whole = reg<int128>(at.left);
        const auto* real = reg<double>(at.right);
        auto* out = reg<std::int64_t>(at.target);
        for (std::size_t i = 0; i < rows_; ++i) out[i] = core::exact_order(whole[i], real[i]);
    }

    const program& code_;
    std::unique_ptr<std::max_align_t[]> memory_;
    std::vector<std::byte*> registers_;
    std::span<const input_rows> inputs_;
    std::size_t begin_ = 0;  // of the block, in the batch
    std::size_t rows_ = 0;
    std::uint64_t first_row_ = 0;
    std::optional<program_fault> fault_;
};

program_run::program_run(const program& of) : machine_(std::make_unique<machine>(of)) {}
program_run::program_run(program_run&&) noexcept = default;
program_run::~program_run() = default;

std::optional<program_fault> program_run::mark(std::span<const input_rows> inputs,
                                               std::uint64_t first_row, std::size_t rows,
                                               std::uint64_t* words) {
    return machine_->mark(inputs, first_row, rows, words);
}

}  // namespace lookback::apps
