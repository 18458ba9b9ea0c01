// CPU backend: from which sizes on compaction uses several threads, and writes past the caches.
// Invariant: speed alone depends on these. Measured on two cores with 1 MiB of L2 each.
#pragma once

#include <cstddef>

namespace lookback::cpu {

struct compact_limits {
    // What a tile keeps lies in L2 until the tiles before it have published. u32, 512 MiB, half of
    // them kept, two threads: 64 KiB tiles take 21 ms, 128 KiB 19, 256 KiB 17, 512 KiB 17.
    std::size_t tile_bytes = std::size_t{256} << 10;

    // Wider rows are moved straight to their place: a tile of them would be a few rows.
    std::size_t wide_row_bytes = std::size_t{4} << 10;

    std::size_t threads_from_bytes = std::size_t{1} << 20;

    // Smaller outputs may still be in the caches when they are read next.
    std::size_t stream_from_bytes = std::size_t{16} << 20;
};

}  // namespace lookback::cpu
