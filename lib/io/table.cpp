#include "io/table.hpp"

#include "io/byte_order.hpp"
#include "io/workers.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::io {
namespace {

// A pandas or PyTables group whose rows are in one compound dataset of this name.
constexpr std::string_view pandas_table = "table";

[[noreturn]] void throw_unknown_column(const std::string& address, const std::string& column,
                                       const std::vector<std::string>& known) {
    throw error(error_kind::invalid_argument,
                fmt::format("{}: there is no column '{}'; the columns are {}", address, column,
                            fmt::join(known, ", ")));
}

bool holds_pandas_table(const file& file, const std::string& group,
                        const std::vector<child>& children) {
    const auto datasets = std::count_if(children.begin(), children.end(), [](const child& child) {
        return child.kind == object_kind::dataset;
    });
    if (datasets != 1) return false;
    const std::string path = join_path(group, std::string(pandas_table));
    return kind_of(file, path) == object_kind::dataset &&
           dataset::open(file, path).type().kind == element_kind::compound;
}

void require_equal_rows(const std::string& address, const std::vector<dataset>& datasets) {
    const bool equal = std::all_of(datasets.begin(), datasets.end(), [&](const dataset& dataset) {
        return !dataset.shape().dims.empty() && dataset.rows() == datasets.front().rows();
    });
    if (equal) return;
    std::vector<std::string> lengths;
    for (const auto& dataset : datasets) {
        const std::string name = dataset.path().substr(dataset.path().rfind('/') + 1);
        const auto& shape = dataset.shape();
        lengths.push_back(shape.null           ? name + " is empty (null)"
                          : shape.dims.empty() ? name + " is a scalar"
                                               : fmt::format("{} has {}", name, shape.dims[0]));
    }
    throw error(error_kind::invalid_argument,
                fmt::format("{}: its datasets differ in rows ({}); name those of one table with "
                            "--columns, and keep the others with --copy-rest",
                            address, fmt::join(lengths, ", ")));
}

}  // namespace

table table::open(const file& file, const std::string& path,
                  const std::vector<std::string>& columns) {
    table result;
    result.file_ = file;
    result.path_ = normal_path(path);
    if (kind_of(file, result.path_) != object_kind::group) {
        result.open_dataset(columns);
        return result;
    }
    const auto links = children(file, result.path_);
    if (holds_pandas_table(file, result.path_, links)) {
        result.path_ = join_path(result.path_, std::string(pandas_table));
        result.open_dataset(columns);
    } else {
        result.open_group(columns);
    }
    return result;
}

void table::open_group(const std::vector<std::string>& columns) {
    kind_ = table_kind::group;
    const std::string address = file_path() + ":" + path_;
    std::vector<std::string> known;
    const std::set<std::string> wanted(columns.begin(), columns.end());
    for (auto& link : children(file_, path_)) {
        const bool is_column = link.kind == object_kind::dataset;
        if (is_column) known.push_back(link.name);
        const bool chosen = columns.empty() || wanted.contains(link.name);
        if (!is_column || !chosen) rest_.push_back(std::move(link));
    }
    if (known.empty()) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: there is no dataset in this group", address));
    }
    const std::set<std::string> there(known.begin(), known.end());
    for (const auto& name : columns.empty() ? known : columns) {
        if (!there.contains(name)) throw_unknown_column(address, name, known);
        datasets_.push_back(dataset::open(file_, join_path(path_, name)));
    }
    require_equal_rows(address, datasets_);
    rows_ = datasets_.front().rows();
}

void table::open_dataset(const std::vector<std::string>& columns) {
    dataset only = dataset::open(file_, path_);
    const bool is_compound =
        only.type().kind == element_kind::compound && only.shape().dims.size() == 1;
    kind_ = is_compound ? table_kind::compound : table_kind::single;
    rows_ = only.rows();
    if (!columns.empty()) {
        if (is_compound) {
            only = only.with_fields(columns);
        } else if (columns.size() != 1 || columns.front() != path_.substr(path_.rfind('/') + 1)) {
            throw_unknown_column(only.address(), columns.front(),
                                 {path_.substr(path_.rfind('/') + 1)});
        }
    }
    datasets_.push_back(std::move(only));
}

std::vector<std::string> table::column_names() const {
    std::vector<std::string> names;
    if (kind_ == table_kind::compound) {
        for (const auto& field : datasets_.front().type().fields) names.push_back(field.name);
        return names;
    }
    for (const auto& dataset : datasets_) {
        names.push_back(dataset.path().substr(dataset.path().rfind('/') + 1));
    }
    return names;
}

column_place table::find(const std::string& column) const {
    const auto names = column_names();
    const auto found = std::find(names.begin(), names.end(), column);
    if (found == names.end()) throw_unknown_column(file_path() + ":" + path_, column, names);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (kind_ == table_kind::compound) return {0, index};
    return {index, std::nullopt};
}

const element_type& table::type(const column_place& place) const {
    const element_type& stored = datasets_[place.dataset].type();
    return place.field ? stored.fields[*place.field].type : stored;
}

namespace {

template <class Word>
void extract_words(const std::byte* rows, std::size_t row_bytes, std::uint64_t count, bool swapped,
                   std::byte* out) {
    for (std::uint64_t row = 0; row < count; ++row) {
        Word word;
        std::memcpy(&word, rows + row * row_bytes, sizeof(Word));
        if (swapped) word = byte_swap(word);
        std::memcpy(out + row * sizeof(Word), &word, sizeof(Word));
    }
}

}  // namespace

void extract_field(const field& field, const void* compound_rows, std::size_t row_bytes,
                   std::uint64_t rows, void* native, int threads) {
    const element_type& type = field.type;
    if (!type.key || !type.exact) {
        throw error(error_kind::invalid_argument,
                    fmt::format("the field '{}' ({}) cannot be a key", field.name, type.name()));
    }
    constexpr std::uint64_t rows_at_once = 1 << 16;
    const std::uint64_t slices = (rows + rows_at_once - 1) / rows_at_once;
    const auto extract = [&](std::uint64_t slice) {
        const std::uint64_t first = slice * rows_at_once;
        const std::uint64_t count = std::min(rows_at_once, rows - first);
        const auto* in =
            static_cast<const std::byte*>(compound_rows) + first * row_bytes + field.offset;
        auto* out = static_cast<std::byte*>(native) + first * type.bytes;
        switch (type.bytes) {
            case 1:
                return extract_words<std::uint8_t>(in, row_bytes, count, false, out);
            case 2:
                return extract_words<std::uint16_t>(in, row_bytes, count, type.swapped, out);
            case 4:
                return extract_words<std::uint32_t>(in, row_bytes, count, type.swapped, out);
            default:
                return extract_words<std::uint64_t>(in, row_bytes, count, type.swapped, out);
        }
    };
    transfer_options options;
    options.threads = threads;
    for_each_item(slices, options, [&] { return extract; });
}

}  // namespace lookback::io
