// CPU backend: signed integers take the code of unsigned ones where the operator's bits are the
// same. Invariant: a signed and an unsigned type of one width may alias, so the items stay where
// they are.
#pragma once

#include <lookback/scan.hpp>

#include <optional>
#include <span>
#include <type_traits>

namespace lookback::cpu {

constexpr bool depends_on_sign(scan_operator op) {
    return op == scan_operator::minimum || op == scan_operator::maximum;
}

/// body(U()): U is the type whose code serves T and op.
template <class T, class Body>
void with_code_type(scan_operator op, const Body& body) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
        if (!depends_on_sign(op)) {
            body(std::make_unsigned_t<T>());
            return;
        }
    }
    body(T());
}

template <class U, class T>
std::span<U> items_as(std::span<T> items) {
    return {reinterpret_cast<U*>(items.data()), items.size()};
}

template <class U, class T>
std::optional<U> value_as(const std::optional<T>& value) {
    return value ? std::optional<U>(static_cast<U>(*value)) : std::nullopt;
}

}  // namespace lookback::cpu
