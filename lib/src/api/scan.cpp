#include "cpu/scan.hpp"

#include "api/context_state.hpp"
#include "api/sort_checks.hpp"

#include <lookback/kernels/core/operators.hpp>
#include <lookback/scan.hpp>

#include <string>
#include <type_traits>

namespace lookback {
namespace {

const char* name_of(scan_operator op) {
    switch (op) {
        case scan_operator::plus:
            return "plus";
        case scan_operator::multiplies:
            return "multiplies";
        case scan_operator::minimum:
            return "minimum";
        case scan_operator::maximum:
            return "maximum";
        case scan_operator::bit_and:
            return "bit_and";
        case scan_operator::bit_or:
            return "bit_or";
        case scan_operator::bit_xor:
            return "bit_xor";
    }
    return nullptr;
}

template <class T>
void check_operator(const char* who, scan_operator op) {
    const char* name = name_of(op);
    if (name == nullptr) {
        refuse(who, "there is no operator " + std::to_string(static_cast<int>(op)));
    }
    const bool of_bits =
        op == scan_operator::bit_and || op == scan_operator::bit_or || op == scan_operator::bit_xor;
    if (of_bits && std::is_floating_point_v<T>) {
        refuse(who, std::string(name) +
                        " is not defined for floating-point items; use an integer " +
                        "type or another operator");
    }
}

template <class T>
void check_arrays(const char* who, std::span<const T> in, std::span<T> out) {
    if (in.size() != out.size()) {
        refuse(who, "in has " + std::to_string(in.size()) + " items, but out has " +
                        std::to_string(out.size()) + "; they must be equal");
    }
    if (in.data() != out.data()) {
        check_apart(who, "in", in.data(), in.size_bytes(), "out", out.data(), out.size_bytes());
    }
}

// What an exclusive scan without init starts with. Sums start with +0, not with the identity -0.
template <class T>
T start_of(scan_operator op) {
    switch (op) {
        case scan_operator::multiplies:
            return T(1);
        case scan_operator::minimum:
            return core::minimum::identity<T>();
        case scan_operator::maximum:
            return core::maximum::identity<T>();
        case scan_operator::bit_and:
            if constexpr (std::is_integral_v<T>) return core::bit_and::identity<T>();
            [[fallthrough]];
        default:
            return T(0);
    }
}

template <class T>
void scan_checked(const char* who, const context& context, std::span<const T> in, std::span<T> out,
                  bool exclusive, scan_options<T> options) {
    check_operator<T>(who, options.op);
    check_arrays(who, in, out);
    if (exclusive && !options.init) options.init = start_of<T>(options.op);
    if (context.internal().device) {
        cuda::scan(*context.internal().device, in.data(), out.data(), in.size(), exclusive,
                   options);
        return;
    }
    cpu::scan(*context.internal().executor, context.memory(), in, out, exclusive, options);
}

}  // namespace

template <arithmetic_item T>
void inclusive_scan(const context& context, std::span<const T> in, std::span<T> out,
                    const scan_options<T>& options) {
    scan_checked("inclusive_scan", context, in, out, false, options);
}

template <arithmetic_item T>
void exclusive_scan(const context& context, std::span<const T> in, std::span<T> out,
                    const scan_options<T>& options) {
    scan_checked("exclusive_scan", context, in, out, true, options);
}

// A macro, because a function cannot instantiate templates explicitly.
#define LOOKBACK_SCANNABLE(T)                                                      \
    template void inclusive_scan(const context&, std::span<const T>, std::span<T>, \
                                 const scan_options<T>&);                          \
    template void exclusive_scan(const context&, std::span<const T>, std::span<T>, \
                                 const scan_options<T>&)

LOOKBACK_SCANNABLE(std::int8_t);
LOOKBACK_SCANNABLE(std::int16_t);
LOOKBACK_SCANNABLE(std::int32_t);
LOOKBACK_SCANNABLE(std::int64_t);
LOOKBACK_SCANNABLE(std::uint8_t);
LOOKBACK_SCANNABLE(std::uint16_t);
LOOKBACK_SCANNABLE(std::uint32_t);
LOOKBACK_SCANNABLE(std::uint64_t);
LOOKBACK_SCANNABLE(float);
LOOKBACK_SCANNABLE(double);
#undef LOOKBACK_SCANNABLE

}  // namespace lookback
