#include "common/report.hpp"

#include "common/size.hpp"

#include <lookback/context.hpp>
#include <lookback/error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

namespace lookback::apps {

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
    std::error_code ignored;
    // A device or a pipe (/dev/stderr, a process substitution) is written to, not replaced.
    const bool in_place =
        std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored);
    const std::string beside = in_place ? file : fmt::format("{}.{}.tmp", file, getpid());
    std::ofstream stream(beside, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream || (!in_place && std::rename(beside.c_str(), file.c_str()) != 0)) {
        const int failure = errno;
        if (!in_place) std::remove(beside.c_str());
        throw error(error_kind::io_error,
                    fmt::format("cannot write '{}': {}; give a place that can be written", file,
                                std::strerror(failure)));
    }
}

}  // namespace lookback::apps
