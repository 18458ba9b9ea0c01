// Apps: the report of --json, the same keys for every app.
// Invariant: a report file is written whole or not at all.
#pragma once

#include "common/stages.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lookback::apps {

struct report {
    std::string app;
    std::vector<std::string> inputs;  ///< FILE:/path
    std::string output;               ///< FILE:/path, empty where nothing is written
    std::uint64_t rows_in = 0;
    std::uint64_t rows_out = 0;
    std::uint64_t bytes_in = 0;   ///< of the values read, uncompressed
    std::uint64_t bytes_out = 0;  ///< of the values written, uncompressed
    std::string backend;
    std::string backend_reason;
    int threads = 0;
    std::string strategy;
    /// What one app adds, such as {"sorted": false}.
    nlohmann::ordered_json more = nlohmann::ordered_json::object();
};

/// The report as JSON, with seconds a stage, peak memory and version.
nlohmann::ordered_json to_json(const report& told, const stages& timed, double seconds);

/// As text; bytes of names that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

/// Throws error{io_error} where a report could not be written there, and
/// error{invalid_argument} where it would replace an HDF5 file: called before the work starts.
void require_report_file(const std::string& file);

/// Writes text to a file, beside and renamed, or to stdout for "-". Throws error{io_error}.
void write_text(const std::string& file, const std::string& text);

}  // namespace lookback::apps
