// Public API: the ways in which a GPU scans, by name.
// Invariant: a strategy changes the time, never the result of integers or of reproducible sums.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lookback {

/// The CPU backend has one way of its own and ignores this.
enum class scan_strategy : std::uint8_t {
    automatic,     ///< by size
    single,        ///< one launch of few blocks, for small inputs
    three_launch,  ///< block scans, a scan of totals, an addition: the reference
    grid_barrier,  ///< persistent blocks with one grid-wide barrier
    lookback,      ///< decoupled look-back, tiles by ticket
    bounded,       ///< look-back over a bounded window of tiles
    fallback,      ///< look-back in block order; a waiting block helps a late one
};

inline constexpr std::array<std::string_view, 7> scan_strategies{
    "automatic", "single", "three-launch", "grid-barrier", "lookback", "bounded", "fallback"};

constexpr std::string_view name_of(scan_strategy strategy) {
    return scan_strategies[static_cast<std::size_t>(strategy)];
}

/// The strategy of this name, or none.
constexpr std::optional<scan_strategy> parse_scan_strategy(std::string_view name) {
    for (std::size_t i = 0; i < scan_strategies.size(); ++i) {
        if (scan_strategies[i] == name) return static_cast<scan_strategy>(i);
    }
    return std::nullopt;
}

}  // namespace lookback
