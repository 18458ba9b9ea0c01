// CPU backend: sorts keys of 32 and 64 bits by the whole key, with the best SIMD target here.
// Invariant: stable; sorted, reversed and few-valued input is the caller's to find first.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/key_mapping.hpp"

#include <lookback/context.hpp>
#include <lookback/sort_stream.hpp>

#include <cstdint>
#include <span>

namespace lookback::cpu {

void sort_wide_keys(executor& executor, memory_resource& memory, std::span<std::uint32_t> keys,
                    const integer_mapping<std::uint32_t>& mapping);
void sort_wide_keys(executor& executor, memory_resource& memory, std::span<std::uint32_t> keys,
                    const float_mapping<std::uint32_t>& mapping);
void sort_wide_keys(executor& executor, memory_resource& memory, std::span<std::uint64_t> keys,
                    const integer_mapping<std::uint64_t>& mapping);
void sort_wide_keys(executor& executor, memory_resource& memory, std::span<std::uint64_t> keys,
                    const float_mapping<std::uint64_t>& mapping);

/// The same between a reader and a writer, as lookback::sort_stream() says.
bool sort_wide_stream(executor& executor, memory_resource& memory, const key_stream& stream,
                      const integer_mapping<std::uint32_t>& mapping);
bool sort_wide_stream(executor& executor, memory_resource& memory, const key_stream& stream,
                      const float_mapping<std::uint32_t>& mapping);
bool sort_wide_stream(executor& executor, memory_resource& memory, const key_stream& stream,
                      const integer_mapping<std::uint64_t>& mapping);
bool sort_wide_stream(executor& executor, memory_resource& memory, const key_stream& stream,
                      const float_mapping<std::uint64_t>& mapping);

}  // namespace lookback::cpu
