#include "h5sort/key_values.hpp"

#include "common/visit_type.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps::h5sort {
namespace {

// Rows whose keys are taken out while they pass through memory.
constexpr std::uint64_t value_batch_bytes = std::uint64_t{16} << 20;

double to_double(float16 value) {
    const int exponent = value.bits >> 10 & 31;
    const int mantissa = value.bits & 1023;
    const double sign = (value.bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

std::string string_text(const char* bytes, std::size_t size) {
    while (size > 0 && bytes[size - 1] == '\0') --size;
    std::string text = "'";
    for (std::size_t i = 0; i < size; ++i) {
        const auto letter = static_cast<unsigned char>(bytes[i]);
        text += letter < 0x20 || letter == 0x7f ? fmt::format("\\x{:02x}", letter)
                                                : std::string(1, bytes[i]);
    }
    return text + "'";
}

}  // namespace

std::string value_text(const sort_key& key, std::uint64_t row) {
    if (key.string_bytes > 0) {
        return string_text(static_cast<const char*>(key.data) + row * key.string_bytes,
                           key.string_bytes);
    }
    return visit_type(key.type, [&]<class T>() {
        T value;
        std::memcpy(&value, static_cast<const std::byte*>(key.data) + row * sizeof(T), sizeof(T));
        if constexpr (std::is_same_v<T, float16>) {
            return fmt::format("{}", to_double(value));
        } else if constexpr (sizeof(T) == 1) {
            return fmt::format("{}", static_cast<int>(value));
        } else {
            return fmt::format("{}", value);
        }
    });
}

key_values::key_values(const plan& planned, const context& context, std::uint64_t rows)
    : plan_(planned), context_(context) {
    for (const key_column& key : planned.keys) columns_.emplace_back(context, rows * key.bytes());
}

void key_values::load(const held_column* rows, const io::transfer_options& options) {
    if (rows != nullptr) {
        for (std::size_t k = 0; k < plan_.keys.size(); ++k) {
            const auto& field = plan_.keys[k].field;
            if (!field) continue;
            extract_key(*field, rows->data(), rows->row_bytes(), rows->rows(), data(k),
                        context_.threads());
        }
        return;
    }
    std::uint64_t at = 0;
    for (std::size_t input = 0; input < plan_.inputs.size(); ++input) {
        const std::uint64_t count = plan_.inputs[input].rows();
        load_rows(input, 0, count, at, options);
        at += count;
    }
}

void key_values::load_rows(std::size_t input, std::uint64_t first, std::uint64_t count,
                           std::uint64_t at, const io::transfer_options& options) {
    if (count == 0) return;
    std::vector<std::string> passed;
    for (std::size_t k = 0; k < plan_.keys.size(); ++k) {
        const key_column& key = plan_.keys[k];
        const io::dataset& part = key.parts[input];
        if (!key.field) {
            io::read_rows(part, first, count, key.form(), data(k) + at * key.bytes(), options);
        } else if (std::find(passed.begin(), passed.end(), part.path()) == passed.end()) {
            load_fields(part, input, first, count, at, options);
            passed.push_back(part.path());
        }
    }
}

// One pass over a dataset's rows for all keys that are fields of it.
void key_values::load_fields(const io::dataset& part, std::size_t input, std::uint64_t first,
                             std::uint64_t count, std::uint64_t at,
                             const io::transfer_options& options) {
    const std::uint64_t batch = std::min(batch_rows(part, value_batch_bytes), count);
    const std::size_t row_bytes = part.row_bytes(io::form::stored);
    const buffer<std::byte> rows(context_, batch * row_bytes);
    for (std::uint64_t done = 0; done < count; done += batch) {
        const std::uint64_t now = std::min(batch, count - done);
        io::read_rows(part, first + done, now, io::form::stored, rows.data(), options);
        for (std::size_t k = 0; k < plan_.keys.size(); ++k) {
            const key_column& key = plan_.keys[k];
            if (!key.field || key.parts[input].path() != part.path()) continue;
            extract_key(*key.field, rows.data(), row_bytes, now,
                        data(k) + (at + done) * key.bytes(), context_.threads());
        }
        io::reclaim(part.type(), rows.data(), now * part.row_items());
    }
}

void key_values::move_row(std::uint64_t from, std::uint64_t to) {
    for (std::size_t k = 0; k < plan_.keys.size(); ++k) {
        const std::size_t bytes = plan_.keys[k].bytes();
        std::memmove(data(k) + to * bytes, data(k) + from * bytes, bytes);
    }
}

std::vector<sort_key> key_values::sort_keys(std::uint64_t first) const {
    std::vector<sort_key> keys;
    for (std::size_t k = 0; k < plan_.keys.size(); ++k) {
        const key_column& key = plan_.keys[k];
        keys.push_back({data(k) + first * key.bytes(), key.number(),
                        key.is_string() ? key.type.bytes : 0, key.order});
    }
    return keys;
}

std::string row_text(const plan& planned, const std::vector<sort_key>& keys, std::uint64_t row) {
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < keys.size(); ++k) {
        parts.push_back(planned.keys[k].name + " " + value_text(keys[k], row));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace lookback::apps::h5sort
