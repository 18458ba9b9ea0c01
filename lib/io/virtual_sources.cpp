#include "io/virtual_sources.hpp"

#include "io/hdf5_call.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace lookback::io {
namespace {

constexpr std::string_view cannot_read_sources = "cannot read its virtual sources";

struct source {
    std::string file;
    std::string dataset;
};

template <class Getter>
std::string read_text(const std::string& subject, Getter&& get) {
    const auto size =
        checked(subject, cannot_read_sources, [&] { return get(static_cast<char*>(nullptr), 0); });
    std::string text(static_cast<std::size_t>(size) + 1, '\0');
    checked(subject, cannot_read_sources, [&] { return get(text.data(), text.size()); });
    text.pop_back();
    return text;
}

// Sources named by a pattern (%b = block number) may have any number of blocks, so only the first
// one must be there.
std::string first_block(std::string name) {
    for (auto at = name.find('%'); at != std::string::npos; at = name.find('%', at + 1)) {
        if (name.compare(at, 2, "%b") == 0) name.replace(at, 2, "0");
        if (name.compare(at, 2, "%%") == 0) name.replace(at, 2, "%");
    }
    return name;
}

// Where HDF5 looks: the folder in HDF5_VDS_PREFIX, the folder of the virtual dataset's file, and
// the name as it is.
std::optional<std::string> find_file(const std::string& name, const std::string& virtual_file) {
    namespace fs = std::filesystem;
    const fs::path beside = fs::absolute(virtual_file).parent_path();
    std::vector<fs::path> candidates;
    if (const char* prefix = std::getenv("HDF5_VDS_PREFIX"); prefix != nullptr) {
        std::string folder = prefix;
        if (folder.starts_with("${ORIGIN}")) folder.replace(0, 9, beside.string());
        candidates.push_back(fs::path(folder) / name);
    }
    candidates.push_back(beside / name);
    candidates.emplace_back(name);
    std::error_code ignored;
    for (const auto& candidate : candidates) {
        if (fs::exists(candidate, ignored)) return candidate.string();
    }
    return std::nullopt;
}

std::vector<source> sources_of(const std::string& subject, const handle& dataset) {
    const handle properties = checked_handle(subject, cannot_read_sources,
                                             [&] { return H5Dget_create_plist(dataset.id()); });
    std::vector<source> sources;
    const auto layout =
        checked(subject, cannot_read_sources, [&] { return int{H5Pget_layout(properties.id())}; });
    if (layout != H5D_VIRTUAL) return sources;
    std::size_t count = 0;
    checked(subject, cannot_read_sources,
            [&] { return H5Pget_virtual_count(properties.id(), &count); });
    for (std::size_t i = 0; i < count; ++i) {
        const auto file = read_text(subject, [&](char* text, std::size_t size) {
            return H5Pget_virtual_filename(properties.id(), i, text, size);
        });
        const auto name = read_text(subject, [&](char* text, std::size_t size) {
            return H5Pget_virtual_dsetname(properties.id(), i, text, size);
        });
        sources.push_back({first_block(file), first_block(name)});
    }
    return sources;
}

/// Follows virtual datasets to their sources, which may be virtual as well.
class source_check {
public:
    explicit source_check(std::string subject) : subject_(std::move(subject)) {}

    // HDF5 follows a dataset that is made of itself until the stack ends.
    void visit(const file& file, const std::string& path, const handle& dataset) {
        const std::string name = real_name(file.path()) + ":" + path;
        if (std::find(way_.begin(), way_.end(), name) != way_.end()) {
            throw_io_error(subject_, "cannot read", "this virtual dataset is made of itself");
        }
        if (!seen_.insert(name).second) return;
        way_.push_back(name);
        for (const source& source : sources_of(subject_, dataset)) follow(file, source);
        way_.pop_back();
    }

private:
    static std::string real_name(const std::string& path) {
        std::error_code failure;
        const auto real = std::filesystem::canonical(path, failure);
        return failure ? path : real.string();
    }

    void follow(const file& file, const source& source) {
        const bool same_file = source.file == ".";
        const auto name = same_file ? file.path() : find_file(source.file, file.path());
        if (!name) {
            throw_io_error(
                subject_, "cannot read",
                fmt::format("the source file {} of this virtual dataset is missing", source.file));
        }
        const io::file opened = same_file ? file : io::file::open(*name);
        const std::string path = normal_path(source.dataset);
        if (kind_of(opened, path) != object_kind::dataset) {
            throw_io_error(subject_, "cannot read",
                           fmt::format("the source {}:{} of this virtual dataset is missing", *name,
                                       source.dataset));
        }
        visit(opened, path, checked_handle(subject_, cannot_read_sources, [&] {
                  return H5Dopen2(opened.id().id(), path.c_str(), H5P_DEFAULT);
              }));
    }

    std::string subject_;
    std::vector<std::string> way_;
    std::set<std::string> seen_;
};

}  // namespace

void require_virtual_sources(const file& file, const dataset& dataset) {
    source_check(dataset.address()).visit(file, dataset.path(), dataset.id());
}

}  // namespace lookback::io
