#include "common/input.hpp"

#include <lookback/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lookback::apps {

io::table open_table(const address& named, const std::vector<std::string>& columns) {
    const io::file file = io::file::open(named.file);
    const std::string path = named.object.empty() ? io::find_only_table(file) : named.object;
    if (io::kind_of(file, path) == io::object_kind::missing) {
        std::vector<std::string> there;
        for (const auto& child : io::children(file, "/")) there.push_back("/" + child.name);
        throw error(
            error_kind::invalid_argument,
            fmt::format("{}:{}: there is no such object; the file has {}", named.file, path,
                        there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", "))));
    }
    return io::table::open(file, path, columns);
}

io::dataset open_beside(std::string_view text, const io::table& table) {
    const address input{table.file_path(), table.path()};
    address named = parse_beside(text, input);
    const bool same_file = named.file == input.file;
    const io::file file = same_file ? table.source() : io::file::open(named.file);
    if (table.kind() == io::table_kind::group && same_file && text.front() != '/') {
        const std::string inside = io::join_path(table.path(), std::string(text));
        if (io::kind_of(file, inside) == io::object_kind::dataset) named.object = inside;
    }
    if (io::kind_of(file, named.object) != io::object_kind::dataset) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: there is no such dataset; name one beside the input, or give "
                                "/path or FILE:/path",
                                named.text()));
    }
    return io::dataset::open(file, named.object);
}

std::string address_of(const io::table& table) {
    return address{table.file_path(), table.path()}.text();
}

}  // namespace lookback::apps
