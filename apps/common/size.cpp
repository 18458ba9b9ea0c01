#include "common/size.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

namespace lookback::apps {
namespace {

constexpr std::string_view unit_letters = "KMGTPE";

[[noreturn]] void throw_bad_size(std::string_view option, std::string_view text) {
    throw error(error_kind::invalid_argument,
                fmt::format("option '{}': '{}' is not a size; write bytes, 1.5G, or 50% of memory",
                            option, text));
}

// The number of bytes that a unit stands for: "", "B", "K", "KiB", "KB", ...; 0 where unknown.
double unit_bytes(std::string_view unit) {
    if (unit.empty() || unit == "B" || unit == "b") return 1;
    const std::size_t at = unit_letters.find(static_cast<char>(std::toupper(unit[0])));
    if (at == std::string_view::npos) return 0;
    const int power = static_cast<int>(at) + 1;
    const std::string_view rest = unit.substr(1);
    if (rest.empty() || rest == "iB" || rest == "i") return std::pow(1024.0, power);
    return rest == "B" ? std::pow(1000.0, power) : 0;
}

// A value in kB of /proc/self/status, as bytes.
std::uint64_t status_bytes(std::string_view name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind(name, 0) == 0) return std::stoull(line.substr(name.size())) * 1024;
    }
    return 0;
}

}  // namespace

std::uint64_t parse_size(std::string_view option, std::string_view text, std::uint64_t whole) {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc() || !(number >= 0)) throw_bad_size(option, text);
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    double bytes = 0;
    if (unit == "%") {
        if (number > 100) throw_bad_size(option, text);
        bytes = number / 100 * static_cast<double>(whole);
    } else {
        const double one = unit_bytes(unit);
        if (one == 0) throw_bad_size(option, text);
        bytes = number * one;
    }
    if (!(bytes >= 1) || bytes >= 9.2e18) throw_bad_size(option, text);
    return static_cast<std::uint64_t>(bytes);
}

std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least) {
    std::int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data(), end, count);
    if (failure == std::errc::result_out_of_range && rest == end) {
        throw error(error_kind::invalid_argument,
                    fmt::format("option '{}': '{}' does not fit 63 bits", option, text));
    }
    if (failure != std::errc() || rest != end || count < least) {
        throw error(error_kind::invalid_argument,
                    fmt::format("option '{}': '{}' is not a whole number of at least {}", option,
                                text, least));
    }
    return count;
}

std::string size_text(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (value /= 1024; value >= 1024 && unit + 1 < unit_letters.size(); ++unit) value /= 1024;
    return fmt::format("{:.2f} {}iB", value, unit_letters[unit]);
}

std::uint64_t memory_of_machine() {
    const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
    std::uint64_t bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    for (const char* limit :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        std::uint64_t allowed = 0;
        if (std::ifstream(limit) >> allowed && allowed > 0) bytes = std::min(bytes, allowed);
    }
    return bytes;
}

std::uint64_t peak_memory() {
    return status_bytes("VmHWM:");
}

std::uint64_t current_memory() {
    return status_bytes("VmRSS:");
}

}  // namespace lookback::apps
