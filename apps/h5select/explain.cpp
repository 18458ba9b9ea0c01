#include "h5select/explain.hpp"

#include "common/column_place.hpp"
#include "common/half.hpp"
#include "common/input.hpp"
#include "common/visit_type.hpp"
#include "io/transfer.hpp"

#include <lookback/compact.hpp>
#include <lookback/error.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps::h5select {
namespace {

std::string number_text(const io::element_type& type, const std::byte* from) {
    std::byte bytes[8];
    std::memcpy(bytes, from, type.bytes);
    if (type.swapped) std::reverse(bytes, bytes + type.bytes);
    return visit_type(*type.key, [&]<class T>() {
        T value;
        std::memcpy(&value, bytes, sizeof(T));
        if constexpr (is_one_of<T, float16>) {
            return fmt::format("{}", widen(value));
        } else if constexpr (sizeof(T) == 1) {
            return fmt::format("{}", static_cast<int>(value));
        } else {
            return fmt::format("{}", value);
        }
    });
}

std::string value_text(const io::element_type& type, const std::byte* from) {
    if (type.key && type.exact) {
        const bool truth = type.kind == io::element_kind::boolean;
        if (truth) return *from != std::byte{0} ? "true" : "false";
        return number_text(type, from);
    }
    switch (type.kind) {
        case io::element_kind::fixed_string: {
            const std::string_view text(reinterpret_cast<const char*>(from), type.bytes);
            return fmt::format("'{}'", text.substr(0, text.find('\0')));
        }
        case io::element_kind::variable_string: {
            const char* text = nullptr;
            std::memcpy(&text, from, sizeof(text));
            return fmt::format("'{}'", text == nullptr ? "" : text);
        }
        case io::element_kind::compound:
        case io::element_kind::complex: {
            std::vector<std::string> parts;
            parts.reserve(type.fields.size());
            for (const io::field& field : type.fields) {
                parts.push_back(value_text(field.type, from + field.offset));
            }
            return fmt::format("({})", fmt::join(parts, ","));
        }
        case io::element_kind::array: {
            const io::element_type& base = type.fields.front().type;
            std::vector<std::string> parts;
            for (std::uint64_t i = 0; i < type.elements; ++i) {
                parts.push_back(value_text(base, from + i * base.bytes));
            }
            return fmt::format("[{}]", fmt::join(parts, ","));
        }
        default:
            return "?";
    }
}

/// Every row of a dataset as text.
std::vector<std::string> row_texts(const io::dataset& dataset) {
    std::vector<std::byte> rows(dataset.bytes(io::form::stored));
    if (!rows.empty()) io::read(dataset, io::form::stored, rows.data());
    std::vector<std::string> texts;
    const std::uint64_t items = dataset.row_items();
    for (std::uint64_t row = 0; row < dataset.rows(); ++row) {
        const std::byte* const from = rows.data() + row * dataset.row_bytes(io::form::stored);
        std::vector<std::string> parts;
        for (std::uint64_t i = 0; i < items; ++i) {
            parts.push_back(value_text(dataset.type(), from + i * dataset.type().bytes));
        }
        texts.push_back(items == 1 ? parts.front() : fmt::format("[{}]", fmt::join(parts, ",")));
    }
    io::reclaim(dataset.type(), rows.data(), dataset.rows() * items);
    return texts;
}

std::vector<std::string> those_kept(const std::vector<std::string>& all,
                                    const std::vector<std::uint8_t>& flags) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (flags[i] != 0) kept.push_back(all[i]);
    }
    return kept;
}

}  // namespace

std::string explain(const plan& planned, const row_bits& kept, const context& context) {
    const std::uint64_t rows = planned.rows();
    if (rows > most_explained_rows) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{} has {} rows; --explain is for {} at most",
                                address_of(planned.input), rows, most_explained_rows));
    }
    const std::vector<std::uint64_t> words = kept.read(0, rows);
    std::vector<std::uint8_t> flags(rows);
    for (std::uint64_t i = 0; i < rows; ++i) flags[i] = words[i / 64] >> i % 64 & 1U;
    std::vector<std::int64_t> offsets(rows);
    const std::size_t length = compact_offsets(context, flags, offsets);

    const auto& datasets = planned.input.datasets();
    const bool alone = datasets.size() == 1;
    std::size_t width = 8;
    for (const io::dataset& each : datasets) {
        if (!alone) width = std::max(width, base_name(each).size() + 5);
    }
    std::string text;
    const auto line = [&](const std::string& name, const auto& values) {
        std::string whole = fmt::format("{:<{}} {}", name, width, fmt::join(values, " "));
        whole.erase(whole.find_last_not_of(' ') + 1);
        text += whole + "\n";
    };
    std::vector<std::vector<std::string>> values;
    for (const io::dataset& each : datasets) {
        values.push_back(row_texts(each));
        line(alone ? "input" : base_name(each), values.back());
    }
    line("flags", flags);
    line("offsets", offsets);
    for (std::size_t c = 0; c < datasets.size(); ++c) {
        line(alone ? "kept" : "kept " + base_name(datasets[c]), those_kept(values[c], flags));
    }
    return text + fmt::format("{:<{}} {}\n", "length", width, length);
}

}  // namespace lookback::apps::h5select
