// Level L5 (device): the memory that scans share between their blocks, owned by the caller.
// Invariant: prepared once (all zero), then used by any number of scans of any type and size that
// fits, one after the other in stream order; it needs no reset, not even in replays of a graph.
#pragma once

#include <lookback/kernels/device/scan_lookback.cuh>

#include <cstddef>

namespace lookback::device {

struct scan_workspace {
    void* memory = nullptr;  ///< device memory, 256-byte aligned
    std::size_t bytes = 0;
    scan_counters* counters = nullptr;  ///< device memory, or null where nobody counts
};

/// Blocks of the strategies that scan block totals: three launches, grid barrier.
inline constexpr int most_chunks = 1024;
/// Items of up to so many bytes have room for their block totals.
inline constexpr int most_item_bytes = 32;
inline constexpr std::size_t header_bytes = 256;
inline constexpr std::size_t totals_bytes = std::size_t{most_chunks} * most_item_bytes;
/// The least tile of any policy, in bytes: 256 threads x 1 row.
inline constexpr index_t least_tile_bytes = 256 * 16;

template <class T>
inline constexpr index_t slot_words = core::tagged_codec<T>::words;

/// Bytes of workspace for a scan of `items` items, by every strategy, in tiles of `tile_items`.
template <class T>
constexpr std::size_t scan_workspace_bytes(index_t items, index_t tile_items) {
    const index_t tiles = core::tile_shape{items, tile_items}.tiles();
    return header_bytes + totals_bytes +
           static_cast<std::size_t>(slots_of(tiles) * slot_words<T>) * sizeof(std::uint64_t);
}

/// Zeroes the workspace. Once is enough.
inline cudaError_t prepare(const scan_workspace& workspace, cudaStream_t stream) {
    return cudaMemsetAsync(workspace.memory, 0, workspace.bytes, stream);
}

/// The words of the workspace as slots of T.
template <class T>
scan_words words_of(const scan_workspace& workspace) {
    auto* bytes = static_cast<unsigned char*>(workspace.memory);
    const std::size_t words =
        (workspace.bytes - header_bytes - totals_bytes) / sizeof(std::uint64_t);
    constexpr std::size_t most = std::size_t{1} << 30;  // one is wiped in each of 2^30 epochs
    return {{reinterpret_cast<tile::counter*>(bytes),
             reinterpret_cast<std::uint64_t*>(bytes + header_bytes + totals_bytes),
             static_cast<std::uint32_t>(words < most ? words : most)},
            slot_words<T>,
            workspace.counters};
}

template <class T>
T* totals_of(const scan_workspace& workspace) {
    static_assert(sizeof(T) <= most_item_bytes);
    return reinterpret_cast<T*>(static_cast<unsigned char*>(workspace.memory) + header_bytes);
}

}  // namespace lookback::device
