// CPU backend: from which sizes on scans use several threads, and write past the caches.
// Invariant: speed alone depends on these. Measured on two cores with 2 MiB of L2 each.
#pragma once

#include <cstddef>
#include <span>

namespace lookback::cpu {

struct scan_limits {
    // A tile is read twice, so it should stay in L2 beside the next one. u32, 512 MiB, two threads:
    // 64 KiB tiles take 29.2 ms, 128 KiB 28.0, 256 KiB 27.2, 512 KiB 27.2.
    std::size_t tile_bytes = std::size_t{256} << 10;

    // u32: 1 MiB takes 0.07 ms with one thread and with two; 2 MiB 0.16 and 0.13; 4 MiB 0.33 and
    // 0.22.
    std::size_t threads_from_bytes = std::size_t{1} << 20;

    // Smaller outputs may still be in the caches when they are read next. From here on streaming
    // wins: 16 MiB take 0.62 ms, 8 MiB without it 0.38 ms.
    std::size_t stream_from_bytes = std::size_t{16} << 20;

    /// Whether to write past the caches. In place the lines are there already.
    template <class T>
    bool streams(std::span<const T> in, std::span<T> out) const {
        return out.size_bytes() >= stream_from_bytes && in.data() != out.data();
    }
};

}  // namespace lookback::cpu
