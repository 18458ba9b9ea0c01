// API: the checks that several nouns share. For lib/src only.
// Invariant: each throws error{invalid_argument} with the position of what is wrong.
#pragma once

#include <lookback/radix_sort.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lookback {

/// Throws error{invalid_argument}: "who: what".
[[noreturn]] void refuse(const char* who, const std::string& what);

/// Throws error{backend_error} where the context's backend cannot do `who`.
void require_cpu(const context& context, const char* who);

/// At least one key; each of a known type, with data, aligned, its bytes countable.
void check_keys(const char* who, std::span<const sort_key> keys, std::size_t rows);

/// Throws where [a, a + a_bytes) and [b, b + b_bytes) share a byte.
void check_apart(const char* who, const char* a_name, const void* a, std::size_t a_bytes,
                 const char* b_name, const void* b, std::size_t b_bytes);

/// At least one offset; the first is 0, none is less than the one before it, the last is `size`,
/// the number of `things`. Names the first that breaks the rule.
void check_offsets(const context& context, const char* who, std::span<const std::int64_t> offsets,
                   std::size_t size, const char* things);

/// Names the first index outside [0, rows).
template <class Index>
void check_index(const context& context, const char* who, std::span<const Index> index,
                 std::size_t rows);

}  // namespace lookback
