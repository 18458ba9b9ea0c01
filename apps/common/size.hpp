// Apps: sizes and counts as people type them, and the memory of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lookback::apps {

/// "4096", "1.5G", "2GiB" (powers of 1024), "3GB" (powers of 1000), "50%" of `whole`. Throws
/// error{invalid_argument} that names the option.
std::uint64_t parse_size(std::string_view option, std::string_view text, std::uint64_t whole);

/// A whole number from `least` upwards. Throws error{invalid_argument} that names the option.
std::int64_t parse_count(std::string_view option, std::string_view text, std::int64_t least);

/// "512 B", "1.50 GiB".
std::string size_text(std::uint64_t bytes);

/// Bytes of memory that this process may use: the machine's, or its control group's limit.
std::uint64_t memory_of_machine();

/// The most memory that this process has held, in bytes (VmHWM); 0 where the system does not tell.
std::uint64_t peak_memory();

/// Memory that this process holds now, in bytes (VmRSS); 0 where the system does not tell.
std::uint64_t current_memory();

}  // namespace lookback::apps
