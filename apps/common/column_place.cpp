#include "common/column_place.hpp"

#include "common/options.hpp"
#include "common/refuse.hpp"

#include <lookback/error.hpp>

#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps {
namespace {

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

// The column in one dataset of the table.
std::optional<place> find_place(const io::dataset& dataset, const std::string& name) {
    if (auto found = find_in_rows(dataset, name)) return found;
    return find_in_dataset(dataset, name);
}

// Among the datasets that the table has open.
std::optional<named_column> find_inside(const io::table& table, const std::string& name) {
    for (std::size_t c = 0; c < table.datasets().size(); ++c) {
        const io::dataset& dataset = table.datasets()[c];
        auto found = find_place(dataset, name);
        if (!found && table.kind() == io::table_kind::group) {
            // A field of a compound column in a group: column.field.
            const std::string prefix = base_name(dataset) + ".";
            if (name.starts_with(prefix)) {
                found = find_in_rows(dataset, name.substr(prefix.size()));
            }
        }
        if (!found) continue;
        return named_column{dataset, c, std::move(found->field), std::move(found->type)};
    }
    return std::nullopt;
}

std::vector<std::string> field_names(const io::element_type& type) {
    std::vector<std::string> names;
    names.reserve(type.fields.size());
    for (const io::field& field : type.fields) names.push_back(field.name);
    return names;
}

}  // namespace

std::string base_name(const io::dataset& dataset) {
    return dataset.path().substr(dataset.path().rfind('/') + 1);
}

std::optional<named_column> find_column(const io::table& table, const std::string& name) {
    if (auto found = find_inside(table, name)) return found;
    std::optional<named_column> outside;
    if (table.kind() == io::table_kind::group) {
        const std::string column = name.substr(0, name.find_first_of(".["));
        for (const std::string& dataset : {name, column}) {
            const std::string path = io::join_path(table.path(), dataset);
            if (outside || io::kind_of(table.source(), path) != io::object_kind::dataset) continue;
            outside = find_inside(io::table::open(table.source(), table.path(), {dataset}), name);
        }
    } else {
        outside = find_inside(io::table::open(table.source(), table.path()), name);
    }
    if (!outside) return std::nullopt;
    if (outside->dataset.rows() != table.rows()) {
        refuse(fmt::format("{} has {} rows, and the table has {}; name a column of the table",
                           outside->dataset.address(), outside->dataset.rows(), table.rows()));
    }
    outside->column.reset();
    return outside;
}

std::vector<std::string> names_to_choose(const io::table& table) {
    const io::element_type& rows = table.datasets().front().type();
    return table.kind() == io::table_kind::group || rows.fields.empty() ? table.column_names()
                                                                        : field_names(rows);
}

}  // namespace lookback::apps
