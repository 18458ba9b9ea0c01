// CPU backend: the part of the reproducible tree above its tiles, one tile total after the other.
// Invariant: before() is what kernels/core/reproducible_tree.hpp calls before_tile.
#pragma once

#include <lookback/kernels/core/reproducible_tree.hpp>

#include <type_traits>

namespace lookback::cpu {

/// What precedes a chunk of 32 tiles: the groups before its group (and init), and the chunks before
/// it inside its group.
template <class T>
struct tree_chain {
    T groups;
    T chunks;
};

template <class T>
class tree_fold {
public:
    using combine_function = T (*)(T earlier, T later);
    static constexpr int chunk_tiles = 32;
    static constexpr int group_chunks = core::reproducible_tree<sizeof(T)>::group_tiles / 32;

    /// Begins with chunk `chunk` of the whole array.
    tree_fold(combine_function combine, T identity, core::index_t chunk, tree_chain<T> chain)
        : combine_(combine),
          identity_(identity),
          chain_(chain),
          in_chunk_(identity),
          chunk_(static_cast<int>(chunk % group_chunks)) {}

    T before() const { return combine_(chain_.groups, combine_(chain_.chunks, in_chunk_)); }

    /// What precedes the next chunk; only between two chunks.
    const tree_chain<T>& chain() const { return chain_; }

    /// Kogge-Stone, one column at a time: level k of a tile covers up to 2^k tiles that end there.
    void push(T tile_total) {
        levels_[0][tiles_] = tile_total;
        for (int k = 0; k < steps; ++k) {
            const int earlier = tiles_ - (1 << k);
            const T here = levels_[k][tiles_];
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

    combine_function combine_;
    T identity_;
    tree_chain<T> chain_;
    T in_chunk_;
    int chunk_;
    int tiles_ = 0;
    T levels_[steps + 1][chunk_tiles];
};

}  // namespace lookback::cpu
