#include "common/report.hpp"

#include "common/size.hpp"

#include <lookback/context.hpp>
#include <lookback/error.hpp>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace lookback::apps {
namespace {

// A device, a pipe, or what a link leads to (/dev/stdout, whatever it is, a process substitution)
// is written to, not replaced.
bool is_written_in_place(const std::string& file) {
    std::error_code ignored;
    return std::filesystem::is_symlink(std::filesystem::symlink_status(file, ignored)) ||
           (std::filesystem::exists(file, ignored) &&
            !std::filesystem::is_regular_file(file, ignored));
}

// Where a link leads to nothing yet, the name that would be made. Empty, with errno, where links
// lead round.
std::string made_through_links(const std::string& file) {
    constexpr int most_links = 40;  // as the kernel
    namespace fs = std::filesystem;
    std::error_code failure;
    fs::path path = file;
    for (int links = 0; fs::is_symlink(fs::symlink_status(path, failure)); ++links) {
        if (links == most_links) {
            errno = ELOOP;
            return {};
        }
        path = path.parent_path() / fs::read_symlink(path, failure);
    }
    return path.string();
}

// Names of open files: what they hold already, as with >> report, stays.
bool is_descriptor(const std::string& file) {
    return file.starts_with("/dev/std") || file.starts_with("/dev/fd/") ||
           file.starts_with("/proc/self/fd/");
}

// A new file's name, cut where the marks would make it too long.
std::string name_beside(const std::string& file) {
    const std::filesystem::path path(file);
    const std::string marks = fmt::format(".{}.tmp", getpid());
    const std::string name = path.filename().string();
    return (path.parent_path() / (name.substr(0, NAME_MAX - marks.size()) + marks)).string();
}

bool is_hdf5(const std::string& file) {
    constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
    std::array<char, signature.size()> start{};
    std::ifstream(file, std::ios::binary).read(start.data(), start.size());
    return std::string_view(start.data(), start.size()) == signature;
}

[[noreturn]] void refuse_report(const std::string& file, std::string_view reason) {
    throw error(
        error_kind::io_error,
        fmt::format("cannot write '{}': {}; give a place that can be written", file, reason));
}

void refuse_hdf5(const std::string& file) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored) || !is_hdf5(file)) return;
    throw error(error_kind::invalid_argument,
                fmt::format("the report would replace the HDF5 file '{}'; choose another name for "
                            "--json",
                            file));
}

}  // namespace

void require_report_file(const std::string& file) {
    if (file == "-") return;
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) refuse_report(file, "this is a folder");
    if (is_written_in_place(file) && std::filesystem::exists(file, ignored)) {
        if (access(file.c_str(), W_OK) != 0) refuse_report(file, std::strerror(errno));
        refuse_hdf5(file);
        return;
    }
    const std::string place = made_through_links(file);
    if (place.empty()) refuse_report(file, std::strerror(errno));
    const std::string beside = name_beside(place);
    const int made = open(beside.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (made < 0) refuse_report(file, std::strerror(errno));
    ::close(made);
    std::remove(beside.c_str());
    refuse_hdf5(file);
}

nlohmann::ordered_json to_json(const report& told, const stages& timed, double seconds) {
    nlohmann::ordered_json json;
    json["app"] = told.app;
    json["version"] = version();
    json["inputs"] = told.inputs;
    json["output"] = nullptr;
    if (!told.output.empty()) json["output"] = told.output;
    json["rows_in"] = told.rows_in;
    json["rows_out"] = told.rows_out;
    json["bytes_in"] = told.bytes_in;
    json["bytes_out"] = told.bytes_out;
    json["seconds"] = seconds;
    json["stages"] = nlohmann::ordered_json::array();
    timed.for_each([&](const stage& each) {
        json["stages"].push_back(
            {{"name", each.name()}, {"seconds", each.seconds()}, {"bytes", each.bytes()}});
    });
    json["backend"] = told.backend;
    json["backend_reason"] = told.backend_reason;
    json["threads"] = told.threads;
    json["strategy"] = told.strategy;
    json["peak_memory_bytes"] = peak_memory();
    json.update(told.more);
    return json;
}

std::string json_text(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void write_text(const std::string& file, const std::string& text) {
    if (file == "-") {
        const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                             std::fflush(stdout) == 0;
        if (!written) {
            throw error(error_kind::io_error,
                        fmt::format("cannot write to stdout: {}", std::strerror(errno)));
        }
        return;
    }
    const bool in_place = is_written_in_place(file);
    const std::string beside = in_place ? file : name_beside(file);
    const auto mode = is_descriptor(file) ? std::ios::app : std::ios::trunc;
    std::ofstream stream(beside, std::ios::binary | mode);
    stream << text;
    stream.close();
    if (!stream || (!in_place && std::rename(beside.c_str(), file.c_str()) != 0)) {
        const int failure = errno;
        if (!in_place) std::remove(beside.c_str());
        refuse_report(file, std::strerror(failure));
    }
}

}  // namespace lookback::apps
