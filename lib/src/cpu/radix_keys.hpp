// CPU backend: the keys-only sort.
// Invariant: stable and the same bytes from any number of threads; equal keys (-0.0 beside +0.0,
// NaNs, keys equal in the bit range) keep their input order and their own bits.
#pragma once

#include "cpu/executor.hpp"

#include <lookback/context.hpp>
#include <lookback/kernels/core/key_order.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lookback::cpu {

/// Sorts keys by bits [begin_bit, end_bit) of order(key). Extra memory: one key buffer and a
/// little.
template <class Order>
void sort_keys(executor& executor, memory_resource& memory,
               std::span<typename Order::bits_type> keys, Order order, int begin_bit, int end_bit);

/// At most what sort_keys() allocates for n keys of key_bytes bytes.
std::size_t sort_keys_memory(std::size_t n, std::size_t key_bytes, int threads);

}  // namespace lookback::cpu
