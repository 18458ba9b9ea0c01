#include "h5sort/key_place.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps::h5sort {
namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw error(error_kind::invalid_argument, message);
}

std::string base_name(const io::dataset& dataset) {
    return dataset.path().substr(dataset.path().rfind('/') + 1);
}

// "values[3]" as "values" and 3.
struct element_name {
    std::string_view name;
    std::uint64_t element;
};

std::optional<element_name> split_element(std::string_view text) {
    const std::size_t open = text.rfind('[');
    if (open == std::string_view::npos || !text.ends_with(']')) return std::nullopt;
    std::uint64_t element = 0;
    const char* const end = text.data() + text.size() - 1;
    const auto [rest, failure] = std::from_chars(text.data() + open + 1, end, element);
    if (failure != std::errc() || rest != end) return std::nullopt;
    return element_name{text.substr(0, open), element};
}

std::optional<io::field> element_of(const io::field& array, std::string name,
                                    std::uint64_t element) {
    const io::element_type& base = array.type.fields.front().type;
    if (element >= array.type.elements) return std::nullopt;
    return io::field{std::move(name), array.offset + element * base.bytes, base};
}

// A field by its name, or by its path through nested fields, with its offset in the whole row.
std::optional<io::field> find_field(const std::vector<io::field>& fields, std::string_view name) {
    for (const io::field& field : fields) {
        if (field.name == name) return field;
    }
    for (const io::field& outer : fields) {
        const std::string prefix = outer.name + ".";
        if (!name.starts_with(prefix)) continue;
        auto inner = find_field(outer.type.fields, name.substr(prefix.size()));
        if (!inner) continue;
        inner->offset += outer.offset;
        return inner;
    }
    // One element of an array, as in PyTables' and pandas' columns of several values.
    const auto element = split_element(name);
    if (!element) return std::nullopt;
    auto array = find_field(fields, element->name);
    if (!array || array->type.kind != io::element_kind::array) return std::nullopt;
    return element_of(*array, std::string(name), element->element);
}

// Where one key lies in one dataset: the dataset as a whole, a column of it, or a field of its
// rows.
struct place {
    std::optional<io::field> field;
    io::element_type type;
};

std::optional<place> find_in_dataset(const io::dataset& dataset, std::string_view name) {
    const std::string own = base_name(dataset);
    if (name.empty() || name == own || name == dataset.path()) {
        return place{std::nullopt, dataset.type()};
    }
    if (const auto element = split_element(name); element && element->name == own) {
        if (dataset.type().kind == io::element_kind::array && dataset.row_items() == 1) {
            auto field = element_of({own, 0, dataset.type()}, std::string(name), element->element);
            if (field) return place{field, field->type};
        }
        if (element->element >= dataset.row_items()) {
            refuse(fmt::format("{} has {} values a row, numbered from 0; there is no '{}'",
                               dataset.address(), dataset.row_items(), name));
        }
        io::field column{std::string(name), element->element * dataset.type().bytes,
                         dataset.type()};
        return place{column, dataset.type()};
    }
    return std::nullopt;
}

std::optional<place> find_in_rows(const io::dataset& dataset, std::string_view name) {
    const bool has_names = dataset.type().kind == io::element_kind::compound ||
                           dataset.type().kind == io::element_kind::complex;
    if (!has_names || dataset.row_items() != 1) return std::nullopt;
    auto field = find_field(dataset.type().fields, name);
    if (!field) return std::nullopt;
    io::element_type type = field->type;
    return place{std::move(field), std::move(type)};
}

std::vector<std::string> field_names(const io::element_type& type) {
    std::vector<std::string> names;
    names.reserve(type.fields.size());
    for (const io::field& field : type.fields) names.push_back(field.name);
    return names;
}

[[noreturn]] void refuse_unknown(const io::table& table, const std::string& name,
                                 std::vector<std::string> names) {
    const std::string near = nearest(name, names);
    std::string help = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
    if (name.find(',') != std::string::npos) help += "; give each key a -k of its own";
    if (name.find(':') != std::string::npos) {
        help += "; suffixes are :desc, :asc, :nan-first, :nan-last";
    }
    refuse(fmt::format("{}:{}: there is no column '{}' to sort by; the columns are {}{}",
                       table.file_path(), table.path(), name, fmt::join(names, ", "), help));
}

void require_order(const io::dataset& dataset, const key_column& key, bool in_group) {
    const io::element_type& type = key.type;
    const std::string where =
        key.field ? fmt::format("{}: '{}'", dataset.address(), key.name) : dataset.address();
    const std::string own = base_name(dataset);
    if (type.kind == io::element_kind::variable_string) {
        refuse(
            fmt::format("{} is a variable-length string, which cannot be a sort key; sort by "
                        "another column, or store fixed-length strings",
                        where));
    }
    if (type.kind == io::element_kind::array) {
        refuse(fmt::format("{} has {} values a row; name one as the key: -k '{}[0]'", where,
                           type.elements, key.name));
    }
    if (!type.fields.empty()) {
        // "wave.r" in a group; "r" where the dataset is the table.
        const bool table_itself = !key.field && !in_group;
        refuse(fmt::format("{} is {}; name a field to sort by: -k {}{}", where, type.name(),
                           table_itself ? "" : key.name + ".", type.fields.front().name));
    }
    if (!type.key && type.kind != io::element_kind::fixed_string) {
        refuse(fmt::format("{} is {}, which has no order; sort by another column", where,
                           type.name()));
    }
    if (!key.field && dataset.row_items() != 1) {
        refuse(fmt::format("{} has {} values a row; name one as the key: -k '{}[0]'", where,
                           dataset.row_items(), own));
    }
    if (key.field && !type.exact && type.kind != io::element_kind::fixed_string) {
        refuse(fmt::format("{} is {}, which can be compared in a dataset of its own only", where,
                           type.name()));
    }
}

// The key in one dataset of the table.
std::optional<place> find_place(const io::dataset& dataset, const std::string& name) {
    if (auto found = find_in_rows(dataset, name)) return found;
    return find_in_dataset(dataset, name);
}

std::optional<key_column> find_key(const io::table& table, const key_request& wanted) {
    for (std::size_t c = 0; c < table.datasets().size(); ++c) {
        const io::dataset& dataset = table.datasets()[c];
        auto found = find_place(dataset, wanted.name);
        if (!found && table.kind() == io::table_kind::group) {
            // A field of a compound column in a group: column.field.
            const std::string prefix = base_name(dataset) + ".";
            if (wanted.name.starts_with(prefix)) {
                found = find_in_rows(dataset, wanted.name.substr(prefix.size()));
            }
        }
        if (!found) continue;
        key_column key{wanted.name.empty() ? base_name(dataset) : wanted.name,
                       wanted.order,
                       {dataset},
                       c,
                       std::move(found->field),
                       std::move(found->type)};
        require_order(dataset, key, table.kind() == io::table_kind::group);
        return key;
    }
    return std::nullopt;
}

// The table with all its columns, for keys that are not among --columns.
std::optional<key_column> find_outside(const io::table& table, const key_request& wanted) {
    std::optional<key_column> key;
    if (table.kind() == io::table_kind::group) {
        const std::string column = wanted.name.substr(0, wanted.name.find_first_of(".["));
        for (const std::string& name : {wanted.name, column}) {
            const std::string path = io::join_path(table.path(), name);
            if (key || io::kind_of(table.source(), path) != io::object_kind::dataset) continue;
            key = find_key(io::table::open(table.source(), table.path(), {name}), wanted);
        }
    } else {
        key = find_key(io::table::open(table.source(), table.path()), wanted);
    }
    if (!key) return std::nullopt;
    if (key->parts.front().rows() != table.rows()) {
        refuse(fmt::format("{} has {} rows, and the table has {}; sort by a column of the table",
                           key->parts.front().address(), key->parts.front().rows(), table.rows()));
    }
    key->column.reset();
    return key;
}

key_column require_key(const io::table& table, const key_request& wanted) {
    auto key = find_key(table, wanted);
    if (!key) key = find_outside(table, wanted);
    if (!key) {
        const auto& rows = table.datasets().front().type();
        refuse_unknown(table, wanted.name,
                       table.kind() == io::table_kind::group || rows.fields.empty()
                           ? table.column_names()
                           : field_names(rows));
    }
    return std::move(*key);
}

}  // namespace

std::vector<key_column> find_keys(const request& wanted, const std::vector<io::table>& inputs) {
    std::vector<key_request> names = wanted.keys;
    const bool by_values = names.empty() || std::any_of(names.begin(), names.end(), [](auto& name) {
                               return name.name.empty();
                           });
    if (by_values) {
        const io::table& table = inputs.front();
        if (table.datasets().size() != 1 || table.kind() == io::table_kind::compound) {
            refuse(
                fmt::format("{}:{} has several columns; name those to sort by: -k {} (columns: "
                            "{})",
                            table.file_path(), table.path(), table.column_names().front(),
                            fmt::join(table.column_names(), ", ")));
        }
        if (names.empty()) names.push_back({"", wanted.values_order});
    }
    std::vector<key_column> keys;
    for (const key_request& name : names) {
        key_column key = require_key(inputs.front(), name);
        for (std::size_t i = 1; i < inputs.size(); ++i) {
            const key_column other = require_key(inputs[i], name);
            const auto offset = [](const key_column& of) {
                return of.field ? of.field->offset : 0;
            };
            const bool alike = other.type.name() == key.type.name() && offset(other) == offset(key);
            if (!alike) {
                refuse(
                    fmt::format("{}: the key '{}' is {}, and in {} it is {}; merge keys of the "
                                "same type",
                                inputs[i].file_path(), key.name, other.type.name(),
                                inputs.front().file_path(), key.type.name()));
            }
            key.parts.push_back(other.parts.front());
        }
        keys.push_back(std::move(key));
    }
    return keys;
}

}  // namespace lookback::apps::h5sort
