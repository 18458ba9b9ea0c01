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
    require_cpu(context, who);
    return cpu::with_order({nullptr, stream.type, 0, stream.order}, [&]<class Bits>(const Bits*,
                                                                                    auto order) {
        return cpu::sort_key_stream(*context.internal().executor, context.memory(), stream, order);
    });
}

std::size_t sort_stream_memory(const context& context, std::size_t n, std::size_t key_bytes,
                               std::size_t block) {
    return cpu::sort_key_stream_memory(n, key_bytes, block, context.threads());
}

}  // namespace lookback
