// CPU backend: sizes of sorts between a reader and a writer.
#pragma once

#include <algorithm>
#include <cstddef>

namespace lookback::cpu {

/// Fewer keys are sorted as an array.
inline constexpr std::size_t stream_from_keys = std::size_t{1} << 16;
/// Keys that are written at once where no bucket sets the measure.
inline constexpr std::size_t stream_out_keys = std::size_t{1} << 16;

/// Keys that a worker reads at once: whole blocks that stay in its L2 cache, where blocks allow.
inline std::size_t stream_window_keys(std::size_t block, std::size_t key_bytes) {
    constexpr std::size_t window_bytes = std::size_t{256} << 10;
    return std::max<std::size_t>(1, window_bytes / key_bytes / block) * block;
}

/// A bucket of more keys, a sign of a sample that misled, would need too much memory beside all
/// others: it takes twice its size and an eighth.
inline std::size_t largest_giant(std::size_t keys) {
    return keys / 4;
}

}  // namespace lookback::cpu
