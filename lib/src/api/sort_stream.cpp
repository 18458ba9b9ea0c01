#include "api/context_state.hpp"
#include "api/sort_checks.hpp"
#include "cpu/key_column.hpp"
#include "cpu/radix_stream.hpp"

#include <lookback/sort_stream.hpp>

namespace lookback {

bool sort_stream(const context& context, const key_stream& stream) {
    constexpr const char* who = "sort_stream";
    if (!stream.read || !stream.peek || !stream.write) {
        refuse(who, "the stream lacks a function: read, peek and write are all called");
    }
    if (stream.block == 0) refuse(who, "blocks of 0 keys; a source without blocks has 1");
    const context::state& state = context.internal();
    if (state.device) {
        cuda::sort_key_stream(*state.device, context.memory(), stream, context.threads());
        return true;
    }
    return cpu::with_order(
        {nullptr, stream.type, 0, stream.order}, [&]<class Bits>(const Bits*, auto order) {
            return cpu::sort_key_stream(*state.executor, context.memory(), stream, order);
        });
}

std::size_t sort_stream_memory(const context& context, std::size_t n, std::size_t key_bytes,
                               std::size_t block) {
    // Keys, the sort's second array of them.
    if (context.internal().device) return n * key_bytes + cuda::sort_keys_memory(n, key_bytes);
    return cpu::sort_key_stream_memory(n, key_bytes, block, context.threads());
}

std::size_t sort_stream_host_memory(const context& context, std::size_t key_bytes,
                                    std::size_t block) {
    if (!context.internal().device) return 0;
    return cuda::sort_key_stream_host_memory(key_bytes, block, context.threads());
}

}  // namespace lookback
