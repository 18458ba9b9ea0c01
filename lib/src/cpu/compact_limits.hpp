// CPU backend: from which sizes on compaction uses several threads, and writes past the caches.
// Invariant: speed alone depends on these. Measured on two cores with 2 MiB of L2 each.
#pragma once

#include <cstddef>

namespace lookback::cpu {

struct compact_limits {
    // Two tiles lie in L2: one is marked while the one before it is moved. u32, 512 MiB, two
    // threads, 10 % and 90 % kept: 64 KiB tiles take 30.1 and 32.1 ms, 128 KiB 28.4 and 31.4,
    // 256 KiB 28.5 and 31.9, 512 KiB 29.2 and 32.3.
    std::size_t tile_bytes = std::size_t{256} << 10;

    // Wider rows are moved straight to their place: a tile of them would be a few rows.
    std::size_t wide_row_bytes = std::size_t{4} << 10;

    std::size_t threads_from_bytes = std::size_t{1} << 20;

    // Smaller outputs may still be in the caches when they are read next.
    std::size_t stream_from_bytes = std::size_t{16} << 20;
};

}  // namespace lookback::cpu
