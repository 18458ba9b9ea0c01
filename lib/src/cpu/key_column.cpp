#include "cpu/key_column.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lookback::cpu {
namespace {

constexpr std::size_t piece_bytes = 8;

constexpr std::uint64_t low_bits(int bits) {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

// `bytes` bytes as a big-endian number: comparing the numbers compares the bytes.
std::uint64_t load_bytes(const std::byte* from, std::size_t bytes) {
    if (bytes == piece_bytes) {
        std::uint64_t value;
        std::memcpy(&value, from, sizeof(value));
        return std::endian::native == std::endian::little ? __builtin_bswap64(value) : value;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<std::uint8_t>(from[i]);
    return value;
}

}  // namespace

key_column::key_column(const sort_key& key, int begin_bit, int end_bit) : key_(key) {
    const int all = 8 * static_cast<int>(size_of(key.type));
    shift_ = begin_bit;
    width_ = (end_bit != 0 ? end_bit : all) - begin_bit;
}

key_column::key_column(const sort_key& key, std::size_t first_byte, std::size_t bytes)
    : key_(key), width_(8 * static_cast<int>(bytes)), first_byte_(first_byte), bytes_(bytes) {}

key_column key_column::at(const void* data, std::size_t stride_bytes) const {
    key_column moved = *this;
    moved.key_.data = data;
    moved.stride_bytes_ = stride_bytes == size_of(key_.type) ? 0 : stride_bytes;
    return moved;
}

template <class RowOf>
void key_column::load_rows(RowOf row_of, std::size_t count, std::uint64_t* out) const {
    const std::uint64_t mask = low_bits(width_);
    if (bytes_ != 0) {
        const auto* bytes = static_cast<const std::byte*>(key_.data) + first_byte_;
        const std::uint64_t flip = key_.order.descending ? mask : 0;
        for (std::size_t i = 0; i < count; ++i) {
            out[i] = load_bytes(bytes + row_of(i) * key_.string_bytes, bytes_) ^ flip;
        }
        return;
    }
    with_order(key_, [&](const auto* keys, auto order) {
        if (stride_bytes_ != 0) {
            const auto* bytes = reinterpret_cast<const std::byte*>(keys);
            for (std::size_t i = 0; i < count; ++i) {
                std::remove_cvref_t<decltype(*keys)> key;
                std::memcpy(&key, bytes + row_of(i) * stride_bytes_, sizeof(key));
                out[i] = std::uint64_t{order(key)} >> shift_ & mask;
            }
        } else if (shift_ == 0 && width_ == static_cast<int>(8 * sizeof(*keys))) {
            for (std::size_t i = 0; i < count; ++i) out[i] = order(keys[row_of(i)]);
        } else {
            for (std::size_t i = 0; i < count; ++i) {
                out[i] = std::uint64_t{order(keys[row_of(i)])} >> shift_ & mask;
            }
        }
    });
}

void key_column::load(std::size_t begin, std::size_t count, std::uint64_t* out) const {
    load_rows([begin](std::size_t i) { return begin + i; }, count, out);
}

template <class Row>
void key_column::load_at(const Row* rows, std::size_t count, std::uint64_t* out) const {
    load_rows([rows](std::size_t i) { return static_cast<std::size_t>(rows[i]); }, count, out);
}
template void key_column::load_at(const std::uint32_t*, std::size_t, std::uint64_t*) const;
template void key_column::load_at(const std::uint64_t*, std::size_t, std::uint64_t*) const;
template void key_column::load_at(const std::int64_t*, std::size_t, std::uint64_t*) const;

std::vector<key_column> columns_of(std::span<const sort_key> keys) {
    std::vector<key_column> columns;
    for (const sort_key& key : keys) {
        if (key.string_bytes == 0) columns.emplace_back(key);
        for (std::size_t byte = 0; byte < key.string_bytes; byte += piece_bytes) {
            columns.emplace_back(key, byte, std::min(piece_bytes, key.string_bytes - byte));
        }
    }
    return columns;
}

}  // namespace lookback::cpu
