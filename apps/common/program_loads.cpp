#include "common/program_loads.hpp"

#include "common/half.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace lookback::apps {
namespace {

/// A number of a file as a register holds it.
template <class Stored, class Held>
void load_numbers(const input_rows& in, std::size_t first, std::size_t n, Held* out) {
    const std::byte* at = in.data + first * in.stride;
    using word = std::conditional_t<
        sizeof(Stored) == 1, std::uint8_t,
        std::conditional_t<sizeof(Stored) == 2, std::uint16_t,
                           std::conditional_t<sizeof(Stored) == 4, std::uint32_t, std::uint64_t>>>;
    const auto value = [](const std::byte* from, bool swapped) {
        word bits;
        std::memcpy(&bits, from, sizeof(word));
        if (swapped) {
            if constexpr (sizeof(word) == 2) bits = __builtin_bswap16(bits);
            if constexpr (sizeof(word) == 4) bits = __builtin_bswap32(bits);
            if constexpr (sizeof(word) == 8) bits = __builtin_bswap64(bits);
        }
        if constexpr (std::is_same_v<Stored, float16>) {
            return static_cast<Held>(widen(float16{bits}));
        } else {
            return static_cast<Held>(std::bit_cast<Stored>(bits));
        }
    };
    if (!in.swapped && in.stride == sizeof(Stored)) {
        for (std::size_t i = 0; i < n; ++i) out[i] = value(at + i * sizeof(Stored), false);
        return;
    }
    for (std::size_t i = 0; i < n; ++i) out[i] = value(at + i * in.stride, in.swapped);
}

std::string_view text_at(const input_rows& in, const std::byte* at) {
    const char* text = reinterpret_cast<const char*>(at);
    std::size_t length = in.text_bytes;
    if (in.pointers) {
        std::memcpy(&text, at, sizeof(text));
        return text == nullptr ? std::string_view() : std::string_view(text);
    }
    // Padding, of whichever kind, does not count.
    if (in.zero_ended) length = strnlen(text, length);
    while (length > 0 && text[length - 1] == '\0') --length;
    if (in.space_padded) {
        while (length > 0 && text[length - 1] == ' ') --length;
    }
    return {text, length};
}

template <class T>
T* reg(std::byte* memory) {
    return reinterpret_cast<T*>(memory);
}

}  // namespace

void load_input(const program_input& what, value_type type, const input_rows& in, std::size_t first,
                std::size_t n, std::byte* out) {
    if (what.is_text) {
        auto* const texts = reg<std::string_view>(out);
        for (std::size_t i = 0; i < n; ++i) {
            texts[i] = text_at(in, in.data + (first + i) * in.stride);
        }
        return;
    }
    if (what.is_truth) {
        auto* const truths = reg<std::uint8_t>(out);
        load_numbers<std::uint8_t>(in, first, n, truths);
        for (std::size_t i = 0; i < n; ++i) truths[i] = truths[i] != 0;
        return;
    }
    const auto whole = [&]<class Stored>(Stored /*type*/) {
        if (type == value_type::u64) {
            load_numbers<Stored>(in, first, n, reg<std::uint64_t>(out));
        } else {
            load_numbers<Stored>(in, first, n, reg<std::int64_t>(out));
        }
    };
    switch (what.number) {
        case data_type::i8:
            return whole(std::int8_t{});
        case data_type::i16:
            return whole(std::int16_t{});
        case data_type::i32:
            return whole(std::int32_t{});
        case data_type::i64:
            return whole(std::int64_t{});
        case data_type::u8:
            return whole(std::uint8_t{});
        case data_type::u16:
            return whole(std::uint16_t{});
        case data_type::u32:
            return whole(std::uint32_t{});
        case data_type::u64:
            return whole(std::uint64_t{});
        case data_type::f16:
            return load_numbers<float16>(in, first, n, reg<float>(out));
        case data_type::f32:
            return load_numbers<float>(in, first, n, reg<float>(out));
        case data_type::f64:
            return load_numbers<double>(in, first, n, reg<double>(out));
    }
}

}  // namespace lookback::apps
