#include "h5sort/key_place.hpp"

#include "common/column_place.hpp"
#include "common/refuse.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps::h5sort {
namespace {

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

key_column require_key(const io::table& table, const key_request& wanted) {
    auto found = find_column(table, wanted.name);
    if (!found) refuse_unknown(table, wanted.name, names_to_choose(table));
    key_column key{wanted.name.empty() ? base_name(found->dataset) : wanted.name,
                   wanted.order,
                   {found->dataset},
                   found->column,
                   std::move(found->field),
                   std::move(found->type)};
    require_order(found->dataset, key, table.kind() == io::table_kind::group);
    return key;
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
