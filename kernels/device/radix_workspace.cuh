// Level L5 (device): the memory that the launches of a radix sort share, owned by the caller.
// Invariant: prepared once (zero), then used by any number of sorts that fit, in stream order.
#pragma once

#include <lookback/kernels/device/radix_buckets.cuh>

#include <cstddef>

#include <cuda_runtime_api.h>

namespace lookback::device {

struct radix_workspace {
    void* memory = nullptr;  ///< device memory, 256-byte aligned
    std::size_t bytes = 0;
};

/// Zeroes what must be zero. Once is enough.
inline cudaError_t prepare(const radix_workspace& workspace, cudaStream_t stream) {
    return cudaMemsetAsync(workspace.memory, 0, workspace.bytes, stream);
}

/// The part of a workspace that lies at the same place for sorts of any size: what must stay zero
/// between them is never another one's scratch.
struct radix_fixed_part {
    static constexpr int buckets = 1 << tuning::most_bucket_bits;

    radix_header header;
    std::uint64_t counts[buckets / 2];
    std::uint32_t begins[buckets + 1];
    std::uint32_t cursors[buckets];
    std::uint32_t first_cursors[digits];
    std::uint32_t first_tiles[digits + 1];

    bucket_words words() { return {counts, begins, cursors, first_cursors, first_tiles}; }
};

/// How a workspace for `items` items in tiles of `tile_items` is cut.
struct radix_layout {
    index_t portions;
    index_t tile_words;
    std::size_t tickets_at;
    std::size_t bases_at;
    std::size_t tiles_at;
    std::size_t bytes;

    constexpr radix_layout(index_t items, index_t tile_items) {
        constexpr auto aligned = [](std::size_t bytes_so_far) {
            return (bytes_so_far + 255) / 256 * 256;
        };
        portions = core::tile_shape{items, tuning::portion_items}.tiles();
        if (portions < 1) portions = 1;
        const index_t portion = items < tuning::portion_items ? items : tuning::portion_items;
        tile_words = core::tile_shape{portion, tile_items}.tiles() * (digits / 2);
        const auto launches = static_cast<std::size_t>(most_places * portions);
        tickets_at = aligned(sizeof(radix_fixed_part));
        bases_at = aligned(tickets_at + launches * sizeof(std::uint64_t));
        tiles_at = aligned(bases_at + launches * digits * sizeof(index_t));
        bytes = tiles_at + static_cast<std::size_t>(tile_words) * sizeof(std::uint64_t);
    }

    radix_words words(const radix_workspace& workspace) const {
        auto* memory = static_cast<unsigned char*>(workspace.memory);
        return {reinterpret_cast<radix_header*>(memory),
                reinterpret_cast<std::uint64_t*>(memory + tickets_at),
                reinterpret_cast<index_t*>(memory + bases_at),
                reinterpret_cast<std::uint64_t*>(memory + tiles_at),
                portions,
                tile_words};
    }
};

/// Bytes of workspace for sorts of up to `items` items: 1 KiB a tile of radix_policy, that is 1.2 %
/// of keys of u32 alone and 0.7 to 0.8 % of pairs, and 0.8 MiB.
template <class Key, class Value>
constexpr std::size_t radix_workspace_bytes(index_t items) {
    return radix_layout(items, tuning::radix_policy<Key, Value>::tile_items).bytes;
}

}  // namespace lookback::device
