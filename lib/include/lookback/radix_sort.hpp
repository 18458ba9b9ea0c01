// Public API: stable sorting of keys, of keys with payloads, of indices, by one or several keys.
// Invariant: -0.0 equals +0.0, all NaNs are equal; equal keys keep their input order and bits.
// Source: Adinets and Merrill, "Onesweep" (2022); on the CPU MSD radix with in-cache finishes.
#pragma once

#include <lookback/context.hpp>
#include <lookback/types.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace lookback {

struct sort_order {
    bool descending = false;
    bool nan_first = false;  ///< NaNs stand first instead of last, whatever the direction
};

/// Which bits of the ordered key count: [begin_bit, end_bit); keys equal in these bits are equal.
/// end_bit 0 stands for all bits. For floats the whole key must be used.
struct sort_options {
    sort_order order;
    int begin_bit = 0;
    int end_bit = 0;
};

/// Sorts keys in place, stably (visible where -0.0 meets +0.0, in NaN payloads and bit ranges).
///
/// Shapes: n keys, any n. Traffic: see docs/performance.md. Determinism: the same bytes from every
/// backend and thread count. Extra memory: sort_memory(). Stream: the context's; on the CPU the
/// result is there on return. Throws error{invalid_argument} for a bit range outside the key.
template <sortable_item Key>
void sort(const context& context, std::span<Key> keys, const sort_options& options = {});

/// Sorts keys and moves values with them, both in place, stably. `value_bytes` is the size of one
/// value: 1, 2, 4, 8 or 16; wider rows are moved by argsort() and gather(). values holds n values,
/// overlaps keys nowhere and is aligned to min(value_bytes, 8).
template <sortable_item Key>
void sort_pairs(const context& context, std::span<Key> keys, void* values, std::size_t value_bytes,
                const sort_options& options = {});

/// The stable order of the keys: keys[index[0]], keys[index[1]], ... is sorted. Keys are only read.
/// Index is int64 or uint32 (n <= 2^32); index has n items and overlaps keys nowhere.
template <sortable_item Key, class Index>
void argsort(const context& context, std::span<const Key> keys, std::span<Index> index,
             const sort_options& options = {});

/// One of several sort keys, of a type known at run time only. Fixed strings are compared by bytes
/// as unsigned numbers over the whole of string_bytes.
struct sort_key {
    const void* data = nullptr;      ///< n items, native byte order, aligned to the type
    data_type type = data_type::u8;  ///< ignored where string_bytes > 0
    std::size_t string_bytes = 0;    ///< > 0: fixed strings of so many bytes
    sort_order order;
};

/// The stable order by keys[0], then keys[1] among equals, and so on; each key has n = index.size()
/// items and overlaps index nowhere. Extra memory: argsort_memory(). Throws error{invalid_argument}
/// where no key is given, or one is misaligned or overlaps index.
template <class Index>
void argsort(const context& context, std::span<const sort_key> keys, std::span<Index> index);

/// As argsort() by several keys, but inside each segment [offsets[s], offsets[s + 1]) alone; index
/// values count from the start of the whole array. offsets has segments + 1 items, starts at 0,
/// does not decrease and ends at n, else error{invalid_argument} names the first offending
/// position.
template <class Index>
void argsort_segments(const context& context, std::span<const sort_key> keys,
                      std::span<const std::int64_t> offsets, std::span<Index> index);

/// out[i] = in[index[i]], items of item_bytes bytes; in and out do not overlap. Throws
/// error{invalid_argument} that names the first index outside [0, in_items).
template <class Index>
void gather(const context& context, const void* in, std::size_t in_items, std::size_t item_bytes,
            std::span<const Index> index, void* out);

/// Upper bounds in bytes of what sort(), sort_pairs(), and argsort() or argsort_segments() with any
/// keys allocate from the context's memory for n items. They allocate nothing.
std::size_t sort_memory(const context& context, std::size_t n, std::size_t key_bytes);
std::size_t sort_pairs_memory(const context& context, std::size_t n, std::size_t key_bytes,
                              std::size_t value_bytes);
std::size_t argsort_memory(const context& context, std::size_t n);

}  // namespace lookback
