#include "io/hdf5_call.hpp"

#include "io/lzf.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>

namespace lookback::io {
namespace {

std::recursive_mutex& library_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

herr_t collect(unsigned, const H5E_error2_t* entry, void* out) {
    if (entry->desc != nullptr) static_cast<std::vector<std::string>*>(out)->push_back(entry->desc);
    return 0;
}

// HDF5 puts a time with a line break into some texts.
std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
    return text;
}

// "..., errno = 28, error message = 'No space left on device', ..." -> the message.
std::string system_message(const std::string& text) {
    constexpr std::string_view mark = "error message = '";
    const auto begin = text.find(mark);
    if (begin == std::string::npos) return {};
    const auto end = text.find('\'', begin + mark.size());
    return text.substr(begin + mark.size(), end - begin - mark.size());
}

struct explanation {
    std::string_view mark;  // in one of HDF5's lines
    std::string_view text;
};

constexpr std::array explanations = {
    explanation{"signature not found", "this is not an HDF5 file"},
    explanation{"truncated file", "the file is truncated; copy or download it again"},
    explanation{"driver should be used",
                "this is one of the files that the split or multi driver wrote; join them with "
                "h5repack first"},
    explanation{"already open for write",
                "the file is open for writing elsewhere, or was not closed; see h5clear -s"},
    explanation{"already open for read-only", "the file is open for reading elsewhere"},
    explanation{"Fletcher32", "the data are damaged: a Fletcher32 checksum does not match"},
    explanation{"inflate() failed", "the data are damaged: a gzip chunk does not decode"},
    explanation{"szip_filter: decompression failed",
                "the data are damaged: a szip chunk does not decode"},
    explanation{
        "object header message is too large",
        "an attribute or a type of many fields takes more than 64 KiB, for which objects of "
        "this format have no room"},
    explanation{"checksum", "the file is damaged: a checksum of its metadata does not match"},
    explanation{"addr overflow", "the file is damaged or truncated: an address lies outside it"},
    explanation{"not able to open external", "a file with external data is missing"},
    explanation{"unable to open external", "a file with external data is missing"},
};

std::string reason_of(const std::vector<std::string>& lines, const std::source_location& where) {
    for (const auto& line : lines) {
        for (const auto& known : explanations) {
            if (line.find(known.mark) != std::string::npos) return std::string(known.text);
        }
    }
    for (const auto& line : lines) {
        if (auto message = system_message(line); !message.empty()) return message;
    }
    const std::string innermost = lines.empty() ? "HDF5 gives no reason" : lines.front();
    std::string_view source = where.file_name();
    source = source.substr(source.rfind('/') + 1);
    return fmt::format("{} [{}:{}]", innermost, source, where.line());
}

}  // namespace

std::unique_lock<std::recursive_mutex> library_lock() {
    std::unique_lock lock(library_mutex());
    static std::once_flag once;
    std::call_once(once, [] {
        // At exit HDF5 would close files that could not be flushed, and crash; see output.cpp.
        H5dont_atexit();
        register_lzf();
    });
    // HDF5 prints its error stack by default; the setting is one a thread.
    thread_local const bool silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
    static_cast<void>(silent);
    return lock;
}

std::vector<std::string> take_error_lines() {
    const auto lock = library_lock();
    std::vector<std::string> lines;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &lines);
    H5Eclear2(H5E_DEFAULT);
    return lines;
}

void throw_hdf5_error(std::string_view subject, std::string_view action,
                      const std::source_location& where) {
    throw_io_error(subject, action, reason_of(take_error_lines(), where));
}

void throw_io_error(std::string_view subject, std::string_view action, std::string_view reason) {
    throw error(error_kind::io_error, one_line(fmt::format("{}: {}: {}", subject, action, reason)));
}

}  // namespace lookback::io
