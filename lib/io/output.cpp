#include "io/output.hpp"

#include "io/attributes.hpp"
#include "io/creation.hpp"
#include "io/hdf5_call.hpp"
#include "io/reference_book.hpp"
#include "io/temporary_file.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace lookback::io {
namespace {

// Only this process ever opens the file beside, so it needs no lock; its own mark is another.
handle access_properties(const std::string& subject) {
    handle access =
        checked_handle(subject, cannot_write, [] { return H5Pcreate(H5P_FILE_ACCESS); });
    checked(subject, cannot_write, [&] { return H5Pset_file_locking(access.id(), false, true); });
    // Closing the file closes what is still open in it.
    checked(subject, cannot_write,
            [&] { return H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG); });
    return access;
}

// The root group of a new file lists its columns in the order in which they were made, and has a
// header of the newer kind, as attributes of more than 64 KiB need.
handle file_properties(const std::string& subject) {
    handle creation =
        checked_handle(subject, cannot_write, [] { return H5Pcreate(H5P_FILE_CREATE); });
    checked(subject, cannot_write, [&] {
        return H5Pset_link_creation_order(creation.id(),
                                          H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    });
    checked(subject, cannot_write,
            [&] { return H5Pset_attr_creation_order(creation.id(), H5P_CRT_ORDER_TRACKED); });
    return creation;
}

// Makes missing groups on the way, and names in UTF-8.
handle link_properties(const std::string& subject) {
    handle link = checked_handle(subject, cannot_write, [] { return H5Pcreate(H5P_LINK_CREATE); });
    checked(subject, cannot_write, [&] { return H5Pset_create_intermediate_group(link.id(), 1); });
    checked(subject, cannot_write, [&] { return H5Pset_char_encoding(link.id(), H5T_CSET_UTF8); });
    return link;
}

}  // namespace

struct output_file::state {
    state(const std::string& path, const output_options& chosen)
        : subject(path), options(chosen), beside(path) {
        const handle access = access_properties(subject);
        add = !beside.target_is_empty() && !options.truncate;
        if (add) copy_target();
        const handle creation = file_properties(subject);
        opened.path_ = subject;
        opened.id_ = checked_handle(subject, cannot_write, [&] {
            const char* const name = beside.path().c_str();
            return add ? H5Fopen(name, H5F_ACC_RDWR, access.id())
                       : H5Fcreate(name, H5F_ACC_TRUNC, creation.id(), access.id());
        });
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    ~state() { close(); }

    // Ends a file that nobody will see. HDF5 1.10 crashes when it closes a file that it could not
    // flush, so such a file stays open until the process ends; it has no name any more.
    void close() noexcept {
        if (!opened.id_) return;
        const auto lock = library_lock();
        references.clear();
        const bool flushed = H5Fflush(opened.id_.id(), H5F_SCOPE_GLOBAL) >= 0;
        const hid_t id = opened.id_.release();
        if (flushed) H5Fclose(id);
        take_error_lines();
    }

    void copy_target() {
        try {
            file::open(subject);  // says what is wrong with it before it is copied
        } catch (const error& failure) {
            throw error(failure.kind(),
                        fmt::format("{}; choose another output file", failure.what()));
        }
        beside.copy_target();
    }

    std::string address(const std::string& path) const { return subject + ":" + path; }

    void require_absent(const std::string& path) {
        const object_kind kind = kind_of(opened, path);
        if (kind == object_kind::missing || options.overwrite) return;
        throw error(
            error_kind::invalid_argument,
            fmt::format("{}: it exists; choose another name or --overwrite", address(path)));
    }

    // Checks the way to a new object, and removes what overwriting replaces.
    void make_room(const std::string& path) {
        if (path == "/") {
            throw error(error_kind::invalid_argument,
                        fmt::format("{}: name the new dataset, as {}:/name", subject, subject));
        }
        require_absent(path);
        for (std::string group = parent_path(path); group != "/"; group = parent_path(group)) {
            const object_kind kind = kind_of(opened, group);
            if (kind != object_kind::missing && kind != object_kind::group) {
                throw error(error_kind::invalid_argument,
                            fmt::format("{}: {} is not a group", address(path), group));
            }
        }
        require_own_file(path);
        const auto lock = library_lock();
        if (kind_of(opened, parent_path(path)) == object_kind::missing) return;
        // Links that lead nowhere are replaced as well.
        if (H5Lexists(opened.id_.id(), path.c_str(), H5P_DEFAULT) > 0) {
            const bool object = kind_of(opened, path) != object_kind::missing;
            if (object) references.replace(address(path), opened.id_, path);
            checked(address(path), "cannot replace",
                    [&] { return H5Ldelete(opened.id_.id(), path.c_str(), H5P_DEFAULT); });
            remove_index(path);
        }
        take_error_lines();
    }

    // Links may lead into another file, which commit() does not replace as a whole.
    void require_own_file(const std::string& path) const {
        std::string group = parent_path(path);
        while (kind_of(opened, group) == object_kind::missing) group = parent_path(group);
        const handle id = checked_handle(address(group), cannot_write, [&] {
            return H5Oopen(opened.id().id(), group.c_str(), H5P_DEFAULT);
        });
        if (file_number(address(group), id) == file_number(subject, opened.id())) return;
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: {} is a link into another file; give that file as the output",
                                address(path), group));
    }

    // True where the group of a table is there and stays: its columns alone are replaced.
    bool keeps_group(const std::string& path) const {
        return path == "/" || (options.overwrite && kind_of(opened, path) == object_kind::group);
    }

    // PyTables keeps the indexes of /g/t in /g/_i_t, and would go on to use them.
    void remove_index(const std::string& path) {
        const std::string index =
            join_path(parent_path(path), fmt::format("_i_{}", path.substr(path.rfind('/') + 1)));
        if (kind_of(opened, index) != object_kind::group) return;
        checked(address(index), "cannot remove",
                [&] { return H5Ldelete(opened.id_.id(), index.c_str(), H5P_DEFAULT); });
        notices.push_back(
            fmt::format("{}: PyTables' index of the replaced table is removed; "
                        "create_index() makes it again",
                        address(index)));
    }

    dataset create(const std::string& path, const handle& type, const creation& creation) {
        const std::string name = address(path);
        const handle link = link_properties(name);
        return dataset::describe(checked_handle(name, cannot_create,
                                                [&] {
                                                    return H5Dcreate2(
                                                        opened.id_.id(), path.c_str(), type.id(),
                                                        creation.space.id(), link.id(),
                                                        creation.properties.id(), H5P_DEFAULT);
                                                }),
                                 subject, path);
    }

    void make_group(const file& source, const std::string& source_path, const std::string& path) {
        const handle original = checked_handle(
            source.path() + ":" + source_path, "cannot open the group",
            [&] { return H5Gopen2(source.id().id(), source_path.c_str(), H5P_DEFAULT); });
        references.follow(source.path(), original, path);
        if (keeps_group(path)) return;
        make_room(path);
        const handle properties = checked_handle(
            address(path), cannot_write, [&] { return H5Gget_create_plist(original.id()); });
        make_room_for_attributes(address(path), original, properties);
        const handle link = link_properties(address(path));
        checked_handle(address(path), "cannot create the group", [&] {
            return H5Gcreate2(opened.id_.id(), path.c_str(), link.id(), properties.id(),
                              H5P_DEFAULT);
        });
    }

    void add_attributes(const handle& source, const handle& target, const std::string& path) {
        references.add(io::copy_attributes(address(path), source, target, path));
    }

    void copy(const file& source, const std::string& source_path, const std::string& path) {
        make_room(path);
        const handle link = link_properties(address(path));
        checked(source.path() + ":" + source_path, "cannot copy", [&] {
            return H5Ocopy(source.id().id(), source_path.c_str(), opened.id_.id(), path.c_str(),
                           H5P_DEFAULT, link.id());
        });
        references.follow_copy(source, source_path, path, address(path), opened.id_);
    }

    // True where the output began as a copy of this file.
    bool is_copy_of(const file& source) const {
        std::error_code ignored;
        return add && std::filesystem::equivalent(source.path(), subject, ignored);
    }

    std::string subject;
    bool add = false;  // to what the file holds
    output_options options;
    temporary_file beside;
    file opened;
    reference_book references;
    std::vector<std::string> notices;
};

output_file::output_file(const std::string& path, const output_options& options)
    : state_(std::make_unique<state>(path, options)) {}
output_file::output_file(output_file&&) noexcept = default;
output_file& output_file::operator=(output_file&&) noexcept = default;
output_file::~output_file() = default;

void output_file::require_absent(const std::string& path) const {
    state_->require_absent(normal_path(path));
}

dataset output_file::create_like(const dataset& source, const std::string& path, std::uint64_t rows,
                                 const storage_options& storage) {
    const std::string target = normal_path(path);
    creation creation = creation_like(state_->address(target), source, rows, storage);
    make_room_for_attributes(state_->address(target), source.id(), creation.properties);
    state_->make_room(target);
    state_->references.follow(source.address(), source.id(), target);
    const handle type = storage.type ? file_type(*storage.type)
                                     : detached_type(state_->address(target), source.type());
    dataset result = state_->create(target, type, creation);
    state_->add_attributes(source.id(), result.id(), target);
    if (source.type().has_references && !storage.type) {
        state_->references.follow_rows(source.id(), target);
    }
    if (!creation.notice.empty()) state_->notices.push_back(std::move(creation.notice));
    update_row_count(state_->address(target), result.id(), rows);
    return result;
}

dataset output_file::create(const std::string& path, data_type type, std::uint64_t rows,
                            const storage_options& storage, const dataset* beside) {
    const std::string target = normal_path(path);
    const creation creation =
        creation_new(state_->address(target), size_of(type), rows, storage, beside);
    state_->make_room(target);
    return state_->create(target, file_type(type), creation);
}

std::vector<dataset> output_file::create_table_like(const table& source, const std::string& path,
                                                    std::uint64_t rows,
                                                    const storage_options& storage,
                                                    bool copy_rest) {
    const std::string target = normal_path(path);
    if (source.kind() != table_kind::group) {
        return {create_like(source.datasets().front(), target, rows, storage)};
    }
    state_->make_group(source.source(), source.path(), target);
    copy_attributes(source.source(), source.path(), target);
    std::vector<dataset> result;
    for (const auto& column : source.datasets()) {
        const std::string name = column.path().substr(column.path().rfind('/') + 1);
        result.push_back(create_like(column, join_path(target, name), rows, storage));
    }
    // What stays in its place is there already.
    const bool in_place = state_->keeps_group(target) && target == source.path() &&
                          state_->is_copy_of(source.source());
    if (!copy_rest || in_place) return result;
    for (const auto& child : source.rest()) {
        if (child.kind == object_kind::missing) continue;
        state_->copy(source.source(), join_path(source.path(), child.name),
                     join_path(target, child.name));
    }
    return result;
}

void output_file::copy(const file& source, const std::string& source_path,
                       const std::string& path) {
    state_->copy(source, normal_path(source_path), normal_path(path));
}

void output_file::copy_attributes(const file& source, const std::string& source_path,
                                  const std::string& path) {
    const std::string from_path = normal_path(source_path);
    const std::string to_path = normal_path(path);
    const handle from = checked_handle(source.path() + ":" + from_path, "cannot open", [&] {
        return H5Oopen(source.id().id(), from_path.c_str(), H5P_DEFAULT);
    });
    const handle to = checked_handle(state_->address(to_path), "cannot open", [&] {
        return H5Oopen(state_->opened.id().id(), to_path.c_str(), H5P_DEFAULT);
    });
    state_->add_attributes(from, to, to_path);
}

void output_file::commit() {
    for (std::string& notice : state_->references.set_all(state_->opened)) {
        state_->notices.push_back(std::move(notice));
    }
    checked(state_->subject, cannot_write,
            [&] { return H5Fflush(state_->opened.id().id(), H5F_SCOPE_GLOBAL); });
    const hid_t id = state_->opened.id_.release();  // closed or not, it is of no use hereafter
    checked(state_->subject, cannot_write, [&] { return H5Fclose(id); });
    state_->beside.publish();
}

const std::vector<std::string>& output_file::notices() const noexcept {
    return state_->notices;
}

}  // namespace lookback::io
