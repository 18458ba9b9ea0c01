#include "h5select/unique_filter.hpp"

#include "common/half.hpp"
#include "common/visit_type.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace lookback::apps::h5select {
namespace {

std::string_view text_of(const std::byte* value) {
    const char* text = nullptr;
    std::memcpy(&text, value, sizeof(text));
    return text == nullptr ? std::string_view() : std::string_view(text);
}

double number_at(const stream_column& column, const std::byte* from) {
    std::byte bytes[8];
    std::memcpy(bytes, from, column.bytes);
    if (column.swapped) std::reverse(bytes, bytes + column.bytes);
    return visit_type(*column.type.key, [&]<class T>() {
        T value;
        std::memcpy(&value, bytes, sizeof(T));
        if constexpr (is_one_of<T, float16>) {
            return static_cast<double>(widen(value));
        } else {
            return static_cast<double>(value);
        }
    });
}

// Equal bits, or numbers that are equal as keys.
bool same_value(const stream_column& column, const std::byte* a, const std::byte* b) {
    if (std::memcmp(a, b, column.bytes) == 0) return true;
    if (column.type.kind != io::element_kind::floating || !column.type.key ||
        column.bytes != size_of(*column.type.key)) {
        return false;
    }
    const double x = number_at(column, a);
    const double y = number_at(column, b);
    return x == y || (std::isnan(x) && std::isnan(y));
}
}  // namespace

void unique_filter::keep_first(const std::vector<const std::byte*>& data, std::uint64_t rows,
                               std::vector<std::uint64_t>& words) {
    std::optional<std::uint64_t> previous;
    for (std::uint64_t w = 0; w * 64 < rows; ++w) {
        for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
            const auto bit = static_cast<unsigned>(std::countr_zero(left));
            const std::uint64_t row = w * 64 + bit;
            if (equals_previous(data, row, previous)) words[w] &= ~(std::uint64_t{1} << bit);
            previous = row;
        }
    }
    if (!previous) return;
    for (std::size_t c = 0; c < plan_.unique.size(); ++c) {
        const std::byte* const value = at(data, c, *previous);
        if (is_pointer(c)) {
            last_[c].text = text_of(value);
        } else {
            last_[c].bytes.assign(value, value + plan_.unique[c].bytes);
        }
    }
    any_ = true;
}

bool unique_filter::is_pointer(std::size_t c) const {
    return plan_.unique[c].type.kind == io::element_kind::variable_string;
}

const std::byte* unique_filter::at(const std::vector<const std::byte*>& data, std::size_t c,
                                   std::uint64_t row) const {
    const stream_column& column = plan_.unique[c];
    return data[column.stream] + row * plan_.streams[column.stream].row_bytes() + column.offset;
}

bool unique_filter::equals_previous(const std::vector<const std::byte*>& data, std::uint64_t row,
                                    const std::optional<std::uint64_t>& previous) const {
    if (!previous && !any_) return false;
    for (std::size_t c = 0; c < plan_.unique.size(); ++c) {
        const std::byte* const value = at(data, c, row);
        bool same = false;
        if (is_pointer(c)) {
            same = text_of(value) ==
                   (previous ? text_of(at(data, c, *previous)) : std::string_view(last_[c].text));
        } else {
            same = same_value(plan_.unique[c], value,
                              previous ? at(data, c, *previous) : last_[c].bytes.data());
        }
        if (!same) return false;
    }
    return true;
}

}  // namespace lookback::apps::h5select
