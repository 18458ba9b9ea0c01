#include "api/context_state.hpp"
#include "api/sort_checks.hpp"
#include "cpu/gather.hpp"
#include "cpu/radix_argsort.hpp"
#include "cpu/radix_keys.hpp"
#include "cpu/radix_pairs.hpp"
#include "item_list.hpp"

#include <lookback/radix_sort.hpp>

#include <limits>

namespace lookback {
namespace {

template <class Key>
constexpr bool is_float_key = is_one_of<Key, float16, float, double>;

template <class Key>
sort_key key_of(std::span<const Key> keys, const sort_order& order) {
    return {keys.data(), type_of<Key>(), 0, order};
}

// The options with end_bit filled in.
template <class Key>
sort_options checked_bits(const char* who, sort_options options) {
    constexpr int width = 8 * static_cast<int>(sizeof(Key));
    const std::string range = std::string("[").append(std::to_string(options.begin_bit)) + ", " +
                              std::to_string(options.end_bit) + ")";
    if (options.end_bit == 0) options.end_bit = width;
    if (options.begin_bit < 0 || options.end_bit > width || options.begin_bit >= options.end_bit) {
        refuse(who, "the bits " + range + " are no range inside a key of " + std::to_string(width) +
                        " bits");
    }
    if (is_float_key<Key> && (options.begin_bit != 0 || options.end_bit != width)) {
        refuse(who, "the bits " + range + " are a part of a floating-point key; use all of it");
    }
    return options;
}

void check_aligned(const char* who, const char* name, const void* data, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(data) % bytes != 0) {
        refuse(who, std::string(name) + " are not aligned to " + std::to_string(bytes) + " bytes");
    }
}

template <class Index>
void check_index_type(const char* who, std::size_t rows) {
    if (rows != 0 && rows - 1 > std::numeric_limits<Index>::max()) {
        refuse(who, std::to_string(rows) + " rows do not fit a uint32 index; use int64");
    }
}

void check_keys_apart(const char* who, std::span<const sort_key> keys, std::size_t rows,
                      const void* index, std::size_t index_bytes) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
        const sort_key& key = keys[k];
        const std::size_t item = key.string_bytes != 0 ? key.string_bytes : size_of(key.type);
        const std::string name = "key " + std::to_string(k);
        check_apart(who, "index", index, index_bytes, name.c_str(), key.data, rows * item);
    }
}

}  // namespace

template <sortable_item Key>
void sort(const context& context, std::span<Key> keys, const sort_options& options) {
    constexpr const char* who = "sort";
    const sort_options checked = checked_bits<Key>(who, options);
    check_aligned(who, "keys", keys.data(), sizeof(Key));
    if (context.internal().device) {
        cuda::sort_keys(*context.internal().device, context.memory(), keys.data(), type_of<Key>(),
                        keys.size(), checked);
        return;
    }
    cpu::with_order(
        {keys.data(), type_of<Key>(), 0, options.order}, [&]<class Bits>(const Bits*, auto order) {
            if constexpr (sizeof(Bits) == sizeof(Key)) {
                const std::span<Bits> bits(reinterpret_cast<Bits*>(keys.data()), keys.size());
                cpu::sort_keys(*context.internal().executor, context.memory(), bits, order,
                               checked.begin_bit, checked.end_bit);
            }
        });
}

template <sortable_item Key>
void sort_pairs(const context& context, std::span<Key> keys, void* values, std::size_t value_bytes,
                const sort_options& options) {
    constexpr const char* who = "sort_pairs";
    const sort_options checked = checked_bits<Key>(who, options);
    if (value_bytes == 0 || value_bytes > 16 || (value_bytes & (value_bytes - 1)) != 0) {
        refuse(who, "values of " + std::to_string(value_bytes) +
                        " bytes; they have 1, 2, 4, 8 or 16, or use argsort() and gather()");
    }
    check_aligned(who, "keys", keys.data(), sizeof(Key));
    if (!keys.empty() && values == nullptr) refuse(who, "values is null");
    check_aligned(who, "values", values, value_bytes < 8 ? value_bytes : 8);
    check_apart(who, "keys", keys.data(), keys.size_bytes(), "values", values,
                keys.size() * value_bytes);
    if (context.internal().device) {
        cuda::sort_pairs(*context.internal().device, context.memory(), keys.data(), type_of<Key>(),
                         keys.size(), checked, values, value_bytes);
        return;
    }
    cpu::sort_pairs(*context.internal().executor, context.memory(), keys.data(), type_of<Key>(),
                    checked, values, value_bytes, keys.size());
}

template <sortable_item Key, class Index>
void argsort(const context& context, std::span<const Key> keys, std::span<Index> index,
             const sort_options& options) {
    constexpr const char* who = "argsort";
    const sort_options checked = checked_bits<Key>(who, options);
    if (keys.size() != index.size()) {
        refuse(who, "there are " + std::to_string(keys.size()) + " keys and " +
                        std::to_string(index.size()) + " index items");
    }
    const sort_key key = key_of(keys, options.order);
    check_keys(who, {&key, 1}, keys.size());
    check_index_type<Index>(who, keys.size());
    check_keys_apart(who, {&key, 1}, keys.size(), index.data(), index.size_bytes());
    if (context.internal().device) {
        cuda::argsort(*context.internal().device, context.memory(), keys.data(), type_of<Key>(),
                      checked, index);
        return;
    }
    const cpu::key_column column(key, checked.begin_bit, checked.end_bit);
    cpu::argsort(*context.internal().executor, context.memory(), {&column, 1}, index);
}

template <class Index>
void argsort(const context& context, std::span<const sort_key> keys, std::span<Index> index) {
    constexpr const char* who = "argsort";
    check_keys(who, keys, index.size());
    check_index_type<Index>(who, index.size());
    check_keys_apart(who, keys, index.size(), index.data(), index.size_bytes());
    if (context.internal().device) {
        cuda::argsort(*context.internal().device, context.memory(), keys, {}, index);
        return;
    }
    const auto columns = cpu::columns_of(keys);
    cpu::argsort(*context.internal().executor, context.memory(),
                 std::span<const cpu::key_column>(columns), index);
}

template <class Index>
void argsort_segments(const context& context, std::span<const sort_key> keys,
                      std::span<const std::int64_t> offsets, std::span<Index> index) {
    constexpr const char* who = "argsort_segments";
    check_keys(who, keys, index.size());
    check_index_type<Index>(who, index.size());
    check_offsets(context, who, offsets, index.size(), "rows");
    check_keys_apart(who, keys, index.size(), index.data(), index.size_bytes());
    check_apart(who, "index", index.data(), index.size_bytes(), "offsets", offsets.data(),
                offsets.size_bytes());
    if (context.internal().device) {
        cuda::argsort(*context.internal().device, context.memory(), keys, offsets, index);
        return;
    }
    const auto columns = cpu::columns_of(keys);
    cpu::argsort_segments(*context.internal().executor, context.memory(),
                          std::span<const cpu::key_column>(columns), offsets, index);
}

template <class Index>
void gather(const context& context, const void* in, std::size_t in_items, std::size_t item_bytes,
            std::span<const Index> index, void* out) {
    constexpr const char* who = "gather";
    if (item_bytes == 0) refuse(who, "items of 0 bytes");
    const std::size_t most = std::numeric_limits<std::size_t>::max() / item_bytes;
    if (in_items > most || index.size() > most) refuse(who, "more bytes than memory can hold");
    if (index.empty()) return;
    if (out == nullptr) refuse(who, "out is null");
    if (in == nullptr && in_items != 0) refuse(who, "in is null");
    const std::size_t out_bytes = index.size() * item_bytes;
    check_apart(who, "in", in, in_items * item_bytes, "out", out, out_bytes);
    check_apart(who, "index", index.data(), index.size_bytes(), "out", out, out_bytes);
    check_index(context, who, index, in_items);
    if (context.internal().device) {
        cuda::gather(*context.internal().device, in, item_bytes, index, out);
        return;
    }
    cpu::gather(*context.internal().executor, in, item_bytes, index, out);
}

std::size_t sort_memory(const context& context, std::size_t n, std::size_t key_bytes) {
    if (context.internal().device) return cuda::sort_keys_memory(n, key_bytes);
    return cpu::sort_keys_memory(n, key_bytes, context.threads());
}

std::size_t argsort_memory(const context& context, std::size_t n) {
    if (context.internal().device) return cuda::argsort_memory(n);
    return cpu::argsort_memory(n, context.threads());
}

std::size_t sort_pairs_memory(const context& context, std::size_t n, std::size_t key_bytes,
                              std::size_t value_bytes) {
    if (context.internal().device) return cuda::sort_pairs_memory(n, key_bytes, value_bytes);
    return cpu::sort_pairs_memory(n, key_bytes, value_bytes, context.threads());
}

template void argsort(const context&, std::span<const sort_key>, std::span<std::uint32_t>);
template void argsort(const context&, std::span<const sort_key>, std::span<std::int64_t>);
template void argsort_segments(const context&, std::span<const sort_key>,
                               std::span<const std::int64_t>, std::span<std::uint32_t>);
template void argsort_segments(const context&, std::span<const sort_key>,
                               std::span<const std::int64_t>, std::span<std::int64_t>);
template void gather(const context&, const void*, std::size_t, std::size_t,
                     std::span<const std::uint32_t>, void*);
template void gather(const context&, const void*, std::size_t, std::size_t,
                     std::span<const std::int64_t>, void*);

#define LOOKBACK_SORTABLE(Key)                                                            \
    template void sort(const context&, std::span<Key>, const sort_options&);              \
    template void sort_pairs(const context&, std::span<Key>, void*, std::size_t,          \
                             const sort_options&);                                        \
    template void argsort(const context&, std::span<const Key>, std::span<std::uint32_t>, \
                          const sort_options&);                                           \
    template void argsort(const context&, std::span<const Key>, std::span<std::int64_t>,  \
                          const sort_options&)

LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_SORTABLE);
LOOKBACK_SORTABLE(float16);
#undef LOOKBACK_SORTABLE

}  // namespace lookback
