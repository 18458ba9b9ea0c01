// CPU backend: the part of the reproducible tree above its tiles, one tile total after the other.
// Invariant: before() is what kernels/core/reproducible_tree.hpp calls before_tile.
#pragma once

#include <lookback/kernels/core/reproducible_tree.hpp>

namespace lookback::cpu {

/// What precedes a chunk of 32 tiles: the groups before its group (and init), and the chunks before
/// it inside its group.
template <class Value>
struct tree_chain {
    Value groups;
    Value chunks;
};

template <class Value, class Combine>
class tree_fold {
public:
    static constexpr int chunk_tiles = 32;
    static constexpr int group_chunks = core::reproducible_tree<4>::group_tiles / chunk_tiles;

    /// Begins with chunk `chunk` of the whole array.
    tree_fold(Combine combine, Value identity, core::index_t chunk, tree_chain<Value> chain)
        : combine_(combine),
          identity_(identity),
          chain_(chain),
          in_chunk_(identity),
          chunk_(static_cast<int>(chunk % group_chunks)) {}

    Value before() const { return combine_(chain_.groups, combine_(chain_.chunks, in_chunk_)); }

    /// What precedes the next chunk; only between two chunks.
    const tree_chain<Value>& before_chunk() const { return chain_; }

    /// Kogge-Stone, one column at a time: level k of a tile covers up to 2^k tiles that end there.
    void push(Value tile_total) {
        levels_[0][tiles_] = tile_total;
        for (int k = 0; k < steps; ++k) {
            const int earlier = tiles_ - (1 << k);
            const Value here = levels_[k][tiles_];
            levels_[k + 1][tiles_] = earlier >= 0 ? combine_(levels_[k][earlier], here) : here;
        }
        in_chunk_ = levels_[steps][tiles_];
        if (++tiles_ == chunk_tiles) end_chunk();
    }

private:
    static constexpr int steps = 5;

    void end_chunk() {
        chain_.chunks = combine_(chain_.chunks, in_chunk_);
        if (++chunk_ == group_chunks) {
            chain_ = {combine_(chain_.groups, chain_.chunks), identity_};
            chunk_ = 0;
        }
        in_chunk_ = identity_;
        tiles_ = 0;
    }

    Combine combine_;
    Value identity_;
    tree_chain<Value> chain_;
    Value in_chunk_;
    int chunk_;
    int tiles_ = 0;
    Value levels_[steps + 1][chunk_tiles];
};

}  // namespace lookback::cpu
