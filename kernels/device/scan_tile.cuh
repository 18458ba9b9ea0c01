// Level L5 (device): one tile of a scan: its items in registers, their combination inside the lane,
// the row and the warp, and the results written out. Every scan kernel is built from it.
// Invariant: a warp holds `rows` consecutive rows of 32 lane vectors; `scans[row]` is the lane's
// own combination, and after row_scans() that of its row up to the lane.
#pragma once

#include <lookback/kernels/core/tile_shape.hpp>
#include <lookback/kernels/tile/lane_vector.cuh>
#include <lookback/kernels/tile/transpose.cuh>
#include <lookback/kernels/tuning/scan.hpp>
#include <lookback/kernels/warp/scan.cuh>

namespace lookback::device {

using core::index_t;

/// What every block of a scan is told.
template <class T>
struct scan_arguments {
    const T* in;
    T* out;
    index_t items;  ///< >= 1
    index_t tiles;  ///< tiles of tile_geometry::tile_items
    T init;         ///< read only where has_init
    bool has_init;
    bool exclusive;
    bool aligned_in;  ///< 16-byte accesses are allowed
    bool aligned_out;
};

template <class P, class T>
struct tile_geometry {
    using vector = tile::lane_vector<T>;
    static constexpr int row_items = arch::warp_lanes * vector::items;
    static constexpr int warp_items = P::rows * row_items;
    static constexpr int tile_items = P::warps * warp_items;
};

/// A value, or nothing: what precedes the first item. Where op has an identity, `present` is a
/// constant and all questions about it vanish.
template <class T, class Op>
struct preceding {
    static constexpr bool has_identity = requires { Op::template identity<T>(); };

    T value;
    bool present_;

    __device__ static preceding nothing() {
        if constexpr (has_identity) {
            return {Op::template identity<T>(), true};
        } else {
            return {T{}, false};
        }
    }
    __device__ bool present() const { return has_identity || present_; }
    __device__ T before(const T& later, Op op) const {
        return present() ? op(value, later) : later;
    }
    __device__ preceding then(const T& later, Op op) const { return {before(later, op), true}; }
};

/// Shared memory of a block for turning rows, where the policy asks for it.
template <class P, class T>
struct turning_space {
    static constexpr int cells = P::blocked ? P::rows * arch::warp_lanes / 8 * 9 : 1;
    uint4 warps[P::blocked ? P::warps : 1][cells];

    __device__ uint4* own() { return warps[P::blocked ? arch::warp() : 0]; }
};

/// The left fold of values[0, count). A loop: unrolled, its reads cost registers that spill.
template <class T, class Op>
__device__ __forceinline__ T fold(const T* values, int count, Op op) {
    T total = values[0];
    for (int i = 1; i < count; ++i) total = op(total, values[i]);
    return total;
}

template <class P, class T, class Op>
struct scan_tile {
    using geometry = tile_geometry<P, T>;
    using vector = typename geometry::vector;
    static constexpr bool tree = P::combine == tuning::combination::fixed_tree;
    static constexpr bool any_order = P::combine == tuning::combination::any;

    /// Lane totals to scan: one a row, or one of all rows where lanes hold neighbouring vectors.
    static constexpr int totals = P::blocked ? 1 : P::rows;
    using turn = tile::transpose<vector, P::rows>;  // of vectors of 16 bytes
    static_assert(!(P::blocked && tree), "the tree has rows of its own");

    vector rows[P::rows];
    T scans[totals];

    /// The lane's first item of its first row, inside the tile.
    __device__ static int first_item() {
        return arch::warp() * geometry::warp_items + arch::lane() * vector::items;
    }
    /// Items of the tile, which is all or, for the last tile, what is left.
    __device__ static int tile_size(const scan_arguments<T>& args, index_t tile) {
        return static_cast<int>(core::tile_shape{args.items, geometry::tile_items}.size(tile));
    }

    /// The warp's part of a tile; `turning` is the warp's own shared memory, where lanes hold
    /// neighbouring vectors.
    __device__ __forceinline__ void load(const scan_arguments<T>& args, index_t tile,
                                         uint4* turning) {
        load_striped(args, tile);
        if constexpr (P::blocked) turn::to_blocked(rows, turning);
    }

    __device__ __forceinline__ void load_striped(const scan_arguments<T>& args, index_t tile) {
        const int first = first_item();
        const int size = tile_size(args, tile);
        const T* from = args.in + tile * geometry::tile_items + first;
        if constexpr (vector::vectorises) {
            if (size == geometry::tile_items && args.aligned_in) {
#pragma unroll
                for (int row = 0; row < P::rows; ++row) {
                    rows[row].load(from + row * geometry::row_items);
                }
                return;
            }
        }
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            load_some(args, row, from + row * geometry::row_items,
                      size - first - row * geometry::row_items);
        }
    }

    __device__ __forceinline__ void lane_totals(Op op) {
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const bool continues = P::blocked && row > 0;
            T total = continues ? op(scans[0], rows[row].get(0)) : rows[row].get(0);
#pragma unroll
            for (int item = 1; item < vector::items; ++item) {
                total = op(total, rows[row].get(item));
            }
            scans[P::blocked ? 0 : row] = total;
        }
    }

    /// Lane totals once more, from the items: to hold the first ones while the tile waits would
    /// spill registers.
    __device__ __forceinline__ void lane_totals_again(Op op) {
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
#pragma unroll
            for (int word = 0; word < vector::words; ++word) {
                arch::forget_derived(rows[row].slice[word]);
            }
        }
        lane_totals(op);
    }

    __device__ __forceinline__ void row_scans(Op op) {
#pragma unroll
        for (int row = 0; row < totals; ++row) scans[row] = warp::inclusive_scan(scans[row], op);
    }

    /// The combination of the warp's items: from lane totals where any order will do, else from
    /// row scans.
    __device__ __forceinline__ T warp_total(Op op) const {
        T total = any_order ? scans[0] : row_total(0);
#pragma unroll
        for (int row = 1; row < totals; ++row) {
            total = op(total, any_order ? scans[row] : row_total(row));
        }
        return any_order ? warp::reduce_any_order(total, op) : total;
    }

    __device__ __forceinline__ T row_total(int row) const {
        return arch::shuffle(scans[row], arch::warp_lanes - 1);
    }

    /// Writes the results of the tile; `base` precedes the warp's first item.
    __device__ __forceinline__ void finish(const scan_arguments<T>& args, index_t tile,
                                           preceding<T, Op> base, uint4* turning, Op op) {
        const int first = first_item();
        const int left = tile_size(args, tile) - first;
        T* to = args.out + tile * geometry::tile_items + first;
        if constexpr (P::blocked) {
            const T lanes_before = arch::shuffle_up(scans[0], 1);
            if (arch::lane() > 0) base = base.then(lanes_before, op);
#pragma unroll
            for (int row = 0; row < P::rows; ++row) write_row(args, row, base, op);
            turn::to_striped(rows, turning);
#pragma unroll
            for (int row = 0; row < P::rows; ++row) store(args, to, row, left);
        } else {
            finish_rows(args, to, left, base, op);
        }
    }

    /// Writes what row `row` holds; `to` is the place of the lane's first item, `left` items of the
    /// array lie from there on.
    __device__ __forceinline__ void store(const scan_arguments<T>& args, T* to, int row,
                                          int left) const {
        const int skip = row * geometry::row_items;
        if constexpr (vector::vectorises) {
            if (args.aligned_out && left - skip >= vector::items) {
                rows[row].store(to + skip);
                return;
            }
        }
        tile::store_items(to + skip, left - skip, rows[row]);
    }

private:
    __device__ __forceinline__ void finish_rows(const scan_arguments<T>& args, T* to, int left,
                                                preceding<T, Op> base, Op op) {
        preceding<T, Op> rows_before = preceding<T, Op>::nothing();
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            // In the fixed tree the rows before are combined by themselves, then with the base.
            preceding<T, Op> seed = base;
            if constexpr (tree) {
                if (row > 0) seed = base.then(rows_before.value, op);
            }
            const T lanes_before = arch::shuffle_up(scans[row], 1);
            if (arch::lane() > 0) seed = seed.then(lanes_before, op);
            write_row(args, row, seed, op);
            preceding<T, Op>& carried = tree ? rows_before : base;
            const T total = row_total(row);
            carried = tree && row == 0 ? preceding<T, Op>{total, true} : carried.then(total, op);
            store(args, to, row, left);
        }
    }

    /// A row of a short or unaligned tile. Lanes beyond the end read items of the array again, so
    /// that op never sees anything else; nothing depends on them.
    __device__ __forceinline__ void load_some(const scan_arguments<T>& args, int row, const T* from,
                                              int left) {
        if constexpr (vector::vectorises) {
            const bool beyond = left <= 0 && args.items >= vector::items;
            if (args.aligned_in && (left >= vector::items || beyond)) {
                rows[row].load(beyond ? args.in : from);
                return;
            }
        }
        rows[row] = tile::load_items(from, left);
    }

    /// Turns the items of a row into results; `seed` precedes them and, outside the tree, ends up
    /// as what precedes the lane's next items.
    __device__ __forceinline__ void write_row(const scan_arguments<T>& args, int row,
                                              preceding<T, Op>& seed, Op op) {
        if (args.exclusive) {
            write_row<true>(row, seed, op);
        } else {
            write_row<false>(row, seed, op);
        }
    }

    template <bool Exclusive>
    __device__ __forceinline__ void write_row(int row, preceding<T, Op>& seed, Op op) {
        if constexpr (tree) {
            T in_lane = rows[row].get(0);
            rows[row].set(0, Exclusive ? seed.value : seed.before(in_lane, op));
#pragma unroll
            for (int item = 1; item < vector::items; ++item) {
                const T value = rows[row].get(item);
                const T up_to = op(in_lane, value);
                rows[row].set(item, seed.before(Exclusive ? in_lane : up_to, op));
                in_lane = up_to;
            }
        } else {
#pragma unroll
            for (int item = 0; item < vector::items; ++item) {
                const T before = seed.value;
                seed = seed.then(rows[row].get(item), op);
                rows[row].set(item, Exclusive ? before : seed.value);
            }
        }
    }
};

}  // namespace lookback::device
