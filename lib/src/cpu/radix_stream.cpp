#include "cpu/radix_stream.hpp"

#include "cpu/radix_keys.hpp"
#include "cpu/stream_limits.hpp"
#include "cpu/wide_keys.hpp"

#include <cstdint>

namespace lookback::cpu {

template <class Order>
bool sort_key_stream(executor& executor, memory_resource& memory, const key_stream& stream,
                     Order order) {
    if constexpr (sizeof(typename Order::bits_type) >= 4) {
        if (stream.size < stream_from_keys) return false;
        return sort_wide_stream(executor, memory, stream, make_mapping(order));
    }
    return false;
}

std::size_t sort_key_stream_memory(std::size_t n, std::size_t key_bytes, std::size_t block,
                                   int threads) {
    if (key_bytes < 4 || n < stream_from_keys) return 0;
    // Windows of two batches more, and keys on their way out, the largest bucket's at most.
    const std::size_t a_worker = stream_window_keys(block, key_bytes) + 512 +
                                 std::min(n, std::size_t{1} << 20) + stream_out_keys;
    const std::size_t giant = largest_giant(n);
    return sort_keys_memory(n, key_bytes, threads) + giant * key_bytes +
           sort_keys_memory(giant, key_bytes, threads) +
           static_cast<std::size_t>(threads) * a_worker * key_bytes;
}

template bool sort_key_stream(executor&, memory_resource&, const key_stream&,
                              core::integer_order<std::uint8_t>);
template bool sort_key_stream(executor&, memory_resource&, const key_stream&,
                              core::integer_order<std::uint16_t>);
template bool sort_key_stream(executor&, memory_resource&, const key_stream&,
                              core::integer_order<std::uint32_t>);
template bool sort_key_stream(executor&, memory_resource&, const key_stream&,
                              core::integer_order<std::uint64_t>);
template bool sort_key_stream(executor&, memory_resource&, const key_stream&,
                              core::float_order<std::uint16_t>);
template bool sort_key_stream(executor&, memory_resource&, const key_stream&,
                              core::float_order<std::uint32_t>);
template bool sort_key_stream(executor&, memory_resource&, const key_stream&,
                              core::float_order<std::uint64_t>);

}  // namespace lookback::cpu
