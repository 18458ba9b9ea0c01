// CUDA backend: from types of keys at run time to the unsigned integers that kernels see.
#pragma once

#include <lookback/kernels/core/key_order.hpp>
#include <lookback/types.hpp>

#include <cstddef>

namespace lookback::cuda {

inline core::key_kind kind_of(data_type type) {
    if (type >= data_type::f16) return core::key_kind::floating;
    return type <= data_type::i64 ? core::key_kind::signed_integer
                                  : core::key_kind::unsigned_integer;
}

/// body(Bits{}) for the unsigned type of so many bytes.
template <class Body>
void with_bits(std::size_t bytes, Body body) {
    switch (bytes) {
        case 1:
            return body(std::uint8_t{});
        case 2:
            return body(std::uint16_t{});
        case 4:
            return body(std::uint32_t{});
        default:
            return body(std::uint64_t{});
    }
}

}  // namespace lookback::cuda
