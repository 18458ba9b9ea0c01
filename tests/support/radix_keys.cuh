// Test support: key types, orders and data of radix sorts on a GPU, and what checks them.
#pragma once

#include "support/reference.hpp"
#include "support/zoned_array.cuh"

#include <lookback/kernels/device/radix_sort.cuh>

namespace lookback::test {

using core::index_t;
using core::key_kind;

// Under AddressSanitizer one type a width: the others differ in the order of their keys alone, and
// each costs the compiler ten seconds.
#if defined(__SANITIZE_ADDRESS__)
using key_types = testing::Types<std::uint8_t, float16, std::int32_t, double>;
using integer_types = testing::Types<std::int16_t, std::uint32_t>;
using bucket_types = testing::Types<std::uint32_t, double>;
#else
using key_types =
    testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, float16, std::uint32_t,
                   std::int32_t, float, std::uint64_t, std::int64_t, double>;
using integer_types = testing::Types<std::uint8_t, std::int16_t, std::uint32_t, std::int64_t>;
using bucket_types = testing::Types<std::uint32_t, std::int32_t, float, std::uint64_t, double>;
#endif

using device::wide_value;

template <class Key>
constexpr key_kind kind_of() {
    if constexpr (!std::is_integral_v<Key>) return key_kind::floating;
    return std::is_signed_v<Key> ? key_kind::signed_integer : key_kind::unsigned_integer;
}

template <class Key>
device::radix_order<bits_of<Key>> order_of(const sort_options& options) {
    device::radix_order<bits_of<Key>> order{core::make_key_order<bits_of<Key>>(
        kind_of<Key>(), options.order.descending, options.order.nan_first)};
    order.begin_bit = options.begin_bit;
    if (options.end_bit != 0) order.end_bit = options.end_bit;
    return order;
}

template <class T>
T value_of(std::size_t i) {
    if constexpr (std::is_same_v<T, wide_value>) {
        return {i * 0x9e3779b97f4a7c15U, ~i};
    } else {
        return static_cast<T>(i * 0x9e3779b97f4a7c15U + 1);
    }
}

inline std::string describe(const std::string& what, std::size_t n, const sort_options& options) {
    return what + ", n = " + std::to_string(n) + (options.order.descending ? ", descending" : "") +
           (options.order.nan_first ? ", NaN first" : "") + ", bits " +
           std::to_string(options.begin_bit) + " to " + std::to_string(options.end_bit);
}

inline constexpr sort_options plain[] = {{{false, false}}, {{true, false}}};
inline constexpr sort_options with_nans[] = {
    {{false, false}}, {{true, false}}, {{false, true}}, {{true, true}}};

template <class Key>
std::span<const sort_options> orders_of() {
    if constexpr (std::is_integral_v<Key>) return plain;
    return with_nans;
}

/// Keys of few bits, of many that agree, of some that lie far from all others.
template <class Key>
std::vector<std::pair<std::string, std::vector<Key>>> uneven_keys(std::size_t n) {
    std::vector<std::pair<std::string, std::vector<Key>>> all;
    random_bits random(7);
    constexpr int width = 8 * sizeof(Key);
    const auto add = [&](const char* name, auto make) {
        std::vector<Key> keys(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t bits = make(i);
            if constexpr (std::is_integral_v<Key>) {
                keys[i] = static_cast<Key>(bits);
            } else {
                keys[i] = narrow<Key>(static_cast<double>(bits >> 12));
            }
        }
        all.emplace_back(name, std::move(keys));
    };
    add("20 bits", [&](std::size_t) { return random() & 0xfffffU; });
    add("3 bits", [&](std::size_t) { return random() & 7U; });
    add("five ANDs",
        [&](std::size_t) { return random() & random() & random() & random() & random(); });
    add("90 % one value", [&](std::size_t) { return random() % 10 != 0 ? 12345 : random(); });
    add("small, some far away",
        [&](std::size_t i) { return i % 4099 == 17 ? ~std::uint64_t{i} : random() & 0xffffU; });
    add("around zero", [&](std::size_t) { return (random() & 0x3ffU) - 512; });
    add("high and low bits",
        [&](std::size_t) { return (random() & 15U) << (width - 4) | (random() & 0xffU); });
    add("one of each power", [&](std::size_t) { return random() >> random() % 64; });
    add("steps", [&](std::size_t i) { return std::uint64_t{i} / 700 * 1000003; });
    return all;
}

}  // namespace lookback::test
