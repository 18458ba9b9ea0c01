// Public API: the closed list of element types, and their names at run time.
// Invariant: what is not in this list is refused at compile time with a readable message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace lookback {

/// An IEEE 754 binary16 number as its bits. It can be sorted and moved; it has no arithmetic.
struct float16 {
    std::uint16_t bits;
};

template <class T, class... List>
inline constexpr bool is_one_of = (std::is_same_v<T, List> || ...);

/// Types with arithmetic: scan and reduce take these.
template <class T>
concept arithmetic_item =
    is_one_of<T, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
              std::uint32_t, std::uint64_t, float, double>;

/// Types with an order: sort keys.
template <class T>
concept sortable_item = arithmetic_item<T> || is_one_of<T, float16>;

enum class data_type : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64 };

constexpr std::size_t size_of(data_type type) {
    constexpr std::size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8};
    return sizes[static_cast<int>(type)];
}

constexpr std::string_view name_of(data_type type) {
    constexpr std::string_view names[] = {"i8",  "i16", "i32", "i64", "u8", "u16",
                                          "u32", "u64", "f16", "f32", "f64"};
    return names[static_cast<int>(type)];
}

template <sortable_item T>
constexpr data_type type_of() {
    if constexpr (std::is_same_v<T, std::int8_t>) return data_type::i8;
    if constexpr (std::is_same_v<T, std::int16_t>) return data_type::i16;
    if constexpr (std::is_same_v<T, std::int32_t>) return data_type::i32;
    if constexpr (std::is_same_v<T, std::int64_t>) return data_type::i64;
    if constexpr (std::is_same_v<T, std::uint8_t>) return data_type::u8;
    if constexpr (std::is_same_v<T, std::uint16_t>) return data_type::u16;
    if constexpr (std::is_same_v<T, std::uint32_t>) return data_type::u32;
    if constexpr (std::is_same_v<T, std::uint64_t>) return data_type::u64;
    if constexpr (std::is_same_v<T, float16>) return data_type::f16;
    if constexpr (std::is_same_v<T, float>) return data_type::f32;
    if constexpr (std::is_same_v<T, double>) return data_type::f64;
}

}  // namespace lookback
