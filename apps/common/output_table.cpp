#include "common/output_table.hpp"

#include <lookback/error.hpp>

#include <fmt/format.h>

namespace lookback::apps {

std::string output_path_of(const address& input, const io::table& table, const address& target) {
    std::string path = table.path();
    if (!target.object.empty()) {
        // A pandas group stands for the table inside it; so does the output's.
        const bool inside = !input.object.empty() && input.object != table.path();
        path = inside ? target.object + table.path().substr(input.object.size()) : target.object;
    }
    if (path == "/" && table.kind() != io::table_kind::group) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}:/ is the root group, and the output is a dataset; give it a "
                                "name: -o {}:/NAME",
                                target.file, target.file));
    }
    return path;
}

void require_absent_table(const io::output_file& output, const io::table& table,
                          const std::string& path) {
    if (table.kind() != io::table_kind::group) {
        output.require_absent(path);
        return;
    }
    for (const std::string& name : table.column_names()) {
        output.require_absent(io::join_path(path, name));
    }
}

std::vector<io::dataset> create_table(io::output_file& output, const io::table& table,
                                      const std::string& path, std::uint64_t rows,
                                      const io::storage_options& storage, bool copy_rest) {
    auto datasets = output.create_table_like(table, path, rows, storage, copy_rest);
    const std::string from = io::parent_path(table.path());
    const std::string to = io::parent_path(path);
    if (table.kind() == io::table_kind::compound && from != "/" && to != "/") {
        output.copy_attributes(table.source(), from, to);
    }
    return datasets;
}

}  // namespace lookback::apps
