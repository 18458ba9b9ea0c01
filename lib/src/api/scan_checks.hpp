// API: the checks that scans share. For lib/src only.
// Invariant: each throws error{invalid_argument} that names what is wrong.
#pragma once

#include "api/sort_checks.hpp"

#include <lookback/kernels/core/operators.hpp>
#include <lookback/scan.hpp>

#include <string>
#include <type_traits>

namespace lookback {

inline const char* name_of(scan_operator op) {
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

/// Throws for operators that do not exist for T.
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

/// Equal sizes; the same array or no byte in common.
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

/// What an exclusive scan without init starts with. Sums start with +0, not with the identity -0.
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

}  // namespace lookback
