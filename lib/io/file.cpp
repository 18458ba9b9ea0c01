#include "io/file.hpp"

#include "io/hdf5_call.hpp"
#include "io/object_walk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lookback::io {
namespace {

constexpr std::string_view cannot_open = "cannot open";

void require_readable_file(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) throw_io_error(path, cannot_open, std::strerror(errno));
    if (S_ISDIR(status.st_mode)) throw_io_error(path, cannot_open, "this is a folder");
    if (!S_ISREG(status.st_mode)) {
        throw_io_error(path, cannot_open, "HDF5 needs a regular file, not a pipe or device");
    }
    if (access(path.c_str(), R_OK) != 0) throw_io_error(path, cannot_open, std::strerror(errno));
    if (status.st_size == 0) throw_io_error(path, cannot_open, "the file is empty");
}

bool contains(const std::vector<std::string>& lines, std::string_view mark) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(mark) != std::string::npos;
    });
}

handle access_properties(const std::string& path, bool lock_file) {
    handle access = checked_handle(path, cannot_open, [] { return H5Pcreate(H5P_FILE_ACCESS); });
    if (!lock_file) {
        checked(path, cannot_open, [&] { return H5Pset_file_locking(access.id(), false, true); });
    }
    return access;
}

// The first try, with a lock. `lines` says why it failed.
hid_t open_locked(const std::string& path, std::vector<std::string>& lines) {
    const handle access = access_properties(path, true);
    const auto lock = library_lock();
    const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id());
    if (id < 0) lines = take_error_lines();
    return id;
}

// Told from its header: opening an object costs several times as much.
herr_t find_info(hid_t from, const std::string& path, H5O_info_t& info) {
    return H5Oget_info_by_name2(from, path.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT);
}

struct link {
    std::string name;
    bool hard;
};

herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* out) {
    static_cast<std::vector<link>*>(out)->push_back({name, info->type == H5L_TYPE_HARD});
    return 0;
}

std::vector<link> links_of(const file& file, const std::string& group) {
    const std::string subject = file.path() + ":" + group;
    std::vector<link> links;
    const handle id = checked_handle(subject, "cannot open the group", [&] {
        return H5Gopen2(file.id().id(), group.c_str(), H5P_DEFAULT);
    });
    const handle properties = checked_handle(subject, "cannot list the group",
                                             [&] { return H5Gget_create_plist(id.id()); });
    unsigned order = 0;
    checked(subject, "cannot list the group",
            [&] { return H5Pget_link_creation_order(properties.id(), &order); });
    const H5_index_t by = (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    checked(subject, "cannot list the group",
            [&] { return H5Literate(id.id(), by, H5_ITER_INC, nullptr, collect_link, &links); });
    return links;
}

// PyTables keeps its indexes in groups of these names.
bool is_hidden(const std::string& name) {
    return name.starts_with("_i_") || name.starts_with("_p_");
}

// What tells an object of a file from its others, whatever links lead to it.
haddr_t address_of(const file& file, const std::string& path) {
    H5O_info_t info;
    checked(file.path() + ":" + path, cannot_open,
            [&] { return find_info(file.id().id(), path, info); });
    return info.addr;
}

// The kind of what a hard link leads to; missing where that cannot be read.
object_kind kind_behind(const file& file, const std::string& path) {
    const auto lock = library_lock();
    H5O_info_t info;
    if (find_info(file.id().id(), path, info) >= 0) return kind_of_type(info.type);
    take_error_lines();
    return object_kind::missing;
}

// Hard links alone, and each group once: links may form cycles, and nest deeper than a stack does.
std::vector<std::string> tables_of(const file& file) {
    std::vector<std::string> tables;
    std::set<haddr_t> seen;
    std::vector<std::string> left{"/"};  // the next group last
    while (!left.empty()) {
        const std::string group = std::move(left.back());
        left.pop_back();
        if (!seen.insert(address_of(file, group)).second) continue;
        std::vector<std::string> datasets;
        std::vector<std::string> groups;
        for (const auto& [name, hard] : links_of(file, group)) {
            if (!hard || is_hidden(name)) continue;
            const std::string path = join_path(group, name);
            const object_kind kind = kind_behind(file, path);
            if (kind == object_kind::dataset) datasets.push_back(path);
            if (kind == object_kind::group) groups.push_back(path);
        }
        if (datasets.size() == 1) tables.push_back(datasets.front());
        if (datasets.size() > 1) tables.push_back(group);
        left.insert(left.end(), groups.rbegin(), groups.rend());
    }
    return tables;
}

}  // namespace

file file::open(const std::string& path) {
    require_readable_file(path);
    file result;
    result.path_ = path;
    std::vector<std::string> lines;
    hid_t id = open_locked(path, lines);
    if (id < 0) {
        const bool lock_failed = contains(lines, "unable to lock") || contains(lines, "flock");
        const bool lock_is_held = contains(lines, fmt::format("errno = {},", EWOULDBLOCK));
        if (lock_failed && lock_is_held) {
            throw_io_error(path, cannot_open, "another process has it open for writing");
        }
        // Without a lock where none can be had; else once more for the error's own text.
        const handle access = access_properties(path, !lock_failed);
        id = checked(path, cannot_open,
                     [&] { return H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()); });
    }
    result.id_ = handle(id);
    return result;
}

object_kind kind_of(const file& file, const std::string& path) {
    const std::string normal = normal_path(path);
    const auto lock = library_lock();
    // Both fail as well where a group on the way is missing.
    if (normal != "/" && (H5Lexists(file.id().id(), normal.c_str(), H5P_DEFAULT) <= 0 ||
                          H5Oexists_by_name(file.id().id(), normal.c_str(), H5P_DEFAULT) <= 0)) {
        take_error_lines();
        return object_kind::missing;
    }
    H5O_info_t info;
    checked(file.path() + ":" + normal, cannot_open,
            [&] { return find_info(file.id().id(), normal, info); });
    return kind_of_type(info.type);
}

std::vector<child> children(const file& file, const std::string& group) {
    std::vector<child> result;
    for (const auto& link : links_of(file, group)) {
        const std::string path = join_path(group, link.name);
        const auto lock = library_lock();
        H5O_info_t info;
        const bool found = link.hard && find_info(file.id().id(), path, info) >= 0;
        if (!found) take_error_lines();
        // Links that may lead nowhere are followed step by step, and faults get their text.
        result.push_back({link.name, found ? kind_of_type(info.type) : kind_of(file, path)});
    }
    return result;
}

std::string find_only_table(const file& file) {
    std::vector<std::string> tables = tables_of(file);
    if (tables.size() == 1) return tables.front();
    if (tables.empty()) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: there is no dataset in this file", file.path()));
    }
    constexpr std::size_t shown = 20;
    const std::size_t more = tables.size() - std::min(tables.size(), shown);
    tables.resize(tables.size() - more);
    throw error(
        error_kind::invalid_argument,
        fmt::format("{}: several tables; name one as {}:/path: {}{}", file.path(), file.path(),
                    fmt::join(tables, ", "), more != 0 ? fmt::format(" and {} more", more) : ""));
}

unsigned long file_number(const std::string& subject, const handle& object) {
    H5O_info_t info;
    checked(subject, cannot_open, [&] { return H5Oget_info2(object.id(), &info, H5O_INFO_BASIC); });
    return info.fileno;
}

std::string normal_path(const std::string& path) {
    std::string result;
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string name = path.substr(begin, end - begin);
        // To HDF5 "." is the group itself, and ".." a name as any other.
        if (!name.empty() && name != ".") result += "/" + name;
        begin = end + 1;
    }
    return result.empty() ? "/" : result;
}

std::string parent_path(const std::string& path) {
    const std::string normal = normal_path(path);
    const auto slash = normal.rfind('/');
    return slash == 0 ? "/" : normal.substr(0, slash);
}

std::string join_path(const std::string& group, const std::string& name) {
    return fmt::format("{}/{}", group == "/" ? "" : group, name);
}

}  // namespace lookback::io
