// CPU backend: a sort key of any type as a column of unsigned numbers in sorting order.
// Invariant: row a stands before row b exactly if the columns' numbers, first column first, say
// so; strings become one column for every eight bytes.
#pragma once

#include <lookback/kernels/core/key_order.hpp>
#include <lookback/radix_sort.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookback::cpu {

/// Calls body(typed pointer to the key's bits, order of these bits) for a key that is no string.
template <class Body>
decltype(auto) with_order(const sort_key& key, const Body& body) {
    const auto integer = [&]<class Bits>(Bits, bool is_signed) -> decltype(auto) {
        return body(static_cast<const Bits*>(key.data),
                    core::make_integer_order<Bits>(is_signed, key.order.descending));
    };
    const auto floating = [&]<class Bits>(Bits) -> decltype(auto) {
        return body(static_cast<const Bits*>(key.data),
                    core::make_float_order<Bits>(key.order.descending, key.order.nan_first));
    };
    switch (key.type) {
        case data_type::i8:
            return integer(std::uint8_t{}, true);
        case data_type::i16:
            return integer(std::uint16_t{}, true);
        case data_type::i32:
            return integer(std::uint32_t{}, true);
        case data_type::i64:
            return integer(std::uint64_t{}, true);
        case data_type::u8:
            return integer(std::uint8_t{}, false);
        case data_type::u16:
            return integer(std::uint16_t{}, false);
        case data_type::u32:
            return integer(std::uint32_t{}, false);
        case data_type::u64:
            return integer(std::uint64_t{}, false);
        case data_type::f16:
            return floating(std::uint16_t{});
        case data_type::f32:
            return floating(std::uint32_t{});
        case data_type::f64:
            break;
    }
    return floating(std::uint64_t{});
}

/// A key, or eight bytes of a string key; its numbers have width() bits.
class key_column {
public:
    /// The bits [begin_bit, end_bit) of the ordered key alone; end_bit 0 stands for all.
    explicit key_column(const sort_key& key, int begin_bit = 0, int end_bit = 0);
    /// The same order of keys that stand elsewhere, one every stride_bytes, at any alignment.
    key_column at(const void* data, std::size_t stride_bytes) const;
    /// Bytes [first_byte, first_byte + bytes) of a string; bytes <= 8.
    key_column(const sort_key& key, std::size_t first_byte, std::size_t bytes);

    int width() const { return width_; }
    /// out[i] = the number of row begin + i.
    void load(std::size_t begin, std::size_t count, std::uint64_t* out) const;
    /// out[i] = the number of row rows[i]; Row is uint32, uint64 or int64.
    template <class Row>
    void load_at(const Row* rows, std::size_t count, std::uint64_t* out) const;

private:
    template <class RowOf>
    void load_rows(RowOf row_of, std::size_t count, std::uint64_t* out) const;

    sort_key key_;
    int width_;
    int shift_ = 0;
    std::size_t first_byte_ = 0;
    std::size_t bytes_ = 0;         // > 0: a piece of a string
    std::size_t stride_bytes_ = 0;  // > 0: keys inside larger items
};

/// The columns of all keys, most significant first.
std::vector<key_column> columns_of(std::span<const sort_key> keys);

}  // namespace lookback::cpu
