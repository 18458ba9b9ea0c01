// Level L0 (core): how n items are cut into equal tiles.
// Invariant: tiles are contiguous, in order, and only the last one may be short.
#pragma once

#include <lookback/kernels/core/platform.hpp>

namespace lookback::core {

struct tile_shape {
    index_t items;       ///< items in total
    index_t tile_items;  ///< items in every tile but the last; > 0

    LOOKBACK_HD constexpr index_t tiles() const {
        // Written without items + tile_items, which could overflow.
        return items / tile_items + (items % tile_items != 0);
    }
    LOOKBACK_HD constexpr index_t begin(index_t tile) const { return tile * tile_items; }
    LOOKBACK_HD constexpr index_t size(index_t tile) const {
        const index_t rest = items - begin(tile);
        return rest < tile_items ? rest : tile_items;
    }
};

}  // namespace lookback::core
