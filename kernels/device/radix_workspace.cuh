// Level L5 (device): the memory that the launches of a radix sort share, owned by the caller.
// Invariant: prepared once (zero), then used by any number of sorts that fit, in stream order.
#pragma once

#include <lookback/kernels/device/radix_bucket_plan.cuh>

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
    bucket_state state;
    std::uint64_t counts[buckets / 2];
    std::uint32_t begins[buckets + 1];
    std::uint32_t cursors[buckets];
    std::uint32_t first_cursors[digits];
    std::uint32_t first_tiles[digits + 1];

    /// Without what sorts of uneven keys alone need.
    bucket_words words() {
        return {&state,        counts,      begins,  cursors,
                first_cursors, first_tiles, nullptr, {nullptr, nullptr},
                nullptr};
    }
};

/// Room for what is too large for one bucket's block, where a sort by passes has its tile words:
/// never both at once. `group_items` is what one block sorts of it.
struct uneven_layout {
    std::size_t segments;
    std::size_t groups;

    constexpr uneven_layout(index_t items, index_t group_items)
        : segments(static_cast<std::size_t>(items / group_items + 1)),
          groups(static_cast<std::size_t>(items / 1024) + 30 * segments + 64) {}

    constexpr std::size_t bytes() const {
        return segments * (digits * sizeof(std::uint32_t) + 2 * sizeof(key_segment)) +
               groups * sizeof(key_group);
    }
    bucket_words words(radix_fixed_part& part, void* memory) const {
        auto* first = static_cast<key_segment*>(memory);
        key_segment* second = first + segments;
        auto* tables = reinterpret_cast<std::uint32_t*>(second + segments);
        auto* groups_at = reinterpret_cast<key_group*>(tables + segments * digits);
        return {&part.state,      part.counts, part.begins,     part.cursors, part.first_cursors,
                part.first_tiles, groups_at,   {first, second}, tables};
    }
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

    /// With room for buckets, too.
    constexpr radix_layout(index_t items, index_t tile_items, index_t group_items)
        : radix_layout(items, tile_items) {
        const std::size_t with_buckets = tiles_at + uneven_layout(items, group_items).bytes();
        bytes = bytes < with_buckets ? with_buckets : bytes;
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

/// Bytes of workspace for sorts of up to `items` items: 1 KiB a tile of radix_policy, that is 0.7
/// to 0.8 % of pairs; for keys alone 4.5 % of u32 and 2.3 % of u64; and 0.8 MiB.
template <class Key, class Value>
constexpr std::size_t radix_workspace_bytes(index_t items) {
    constexpr index_t tile_items = tuning::radix_policy<Key, Value>::tile_items;
    if constexpr (sizeof(Key) >= 4 && std::is_same_v<Value, no_value>) {
        // Sorts of few keys are cut smaller, and must fit what is made for more.
        constexpr index_t group_items = tuning::key_sort_cut<Key>::group::tile_items;
        constexpr index_t small_group_items = tuning::small_key_sort_cut<Key>::group::tile_items;
        const index_t few = items < tuning::small_sort_items ? items : tuning::small_sort_items;
        const std::size_t bytes = radix_layout(items, tile_items, group_items).bytes;
        const std::size_t least = radix_layout(few, tile_items, small_group_items).bytes;
        return bytes < least ? least : bytes;
    } else {
        return radix_layout(items, tile_items).bytes;
    }
}

inline cudaError_t multiprocessors(int& count) {
    int device = 0;
    const cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
}

}  // namespace lookback::device
