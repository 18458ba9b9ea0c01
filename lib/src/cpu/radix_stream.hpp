// CPU backend: keys sorted on their way from a source to a sink.
#pragma once

#include "cpu/executor.hpp"

#include <lookback/kernels/core/key_order.hpp>
#include <lookback/sort_stream.hpp>

#include <cstddef>

namespace lookback::cpu {

/// As lookback::sort_stream(), by order(key).
template <class Order>
bool sort_key_stream(executor& executor, memory_resource& memory, const key_stream& stream,
                     Order order);

/// At most what sort_key_stream() allocates.
std::size_t sort_key_stream_memory(std::size_t n, std::size_t key_bytes, std::size_t block,
                                   int threads);

}  // namespace lookback::cpu
