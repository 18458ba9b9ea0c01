// Level L5 (device): one tile of a scan: its items in registers or, staged, in shared memory, their
// combination inside the lane, the row and the warp, and the results written out. Every scan kernel
// is built from it.
// Invariant: a warp holds `rows` consecutive rows of 32 lane vectors; `scans[row]` is the lane's
// own combination, and after row_scans() that of its row up to the lane.
#pragma once

#include <lookback/kernels/arch/copy_async.cuh>
#include <lookback/kernels/device/scan_arguments.cuh>
#include <lookback/kernels/tile/transpose.cuh>
#include <lookback/kernels/warp/scan.cuh>

namespace lookback::device {

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

    vector rows[P::staged ? 1 : P::rows];
    uint4* stage;  ///< where the warp's items are, if staged
    T scans[totals];

    /// The lane's first item of its first row, inside the tile.
    __device__ static int first_item() {
        return arch::warp() * geometry::warp_items + arch::lane() * vector::items;
    }
    /// Items of the tile, which is all or, for the last tile, what is left.
    __device__ static int tile_size(const scan_arguments<T>& args, index_t tile) {
        return static_cast<int>(core::tile_shape{args.items, geometry::tile_items}.size(tile));
    }

    /// The warp's part of a tile; `turning` is the warp's own shared memory, where the policy asks
    /// for some. Staged items are there after arrive().
    __device__ __forceinline__ void load(const scan_arguments<T>& args, index_t tile,
                                         uint4* turning) {
        stage = turning;
        load_striped(args, tile);
        if constexpr (P::blocked && !P::staged) turn::to_blocked(rows, turning);
    }

    __device__ __forceinline__ void load_striped(const scan_arguments<T>& args, index_t tile) {
        const int first = first_item();
        const int size = tile_size(args, tile);
        const T* from = args.in + tile * geometry::tile_items + first;
        if constexpr (vector::vectorises) {
            if (size == geometry::tile_items && args.aligned_in) {
#pragma unroll
                for (int row = 0; row < P::rows; ++row) {
                    const T* place = from + row * geometry::row_items;
                    if constexpr (P::staged) {
                        arch::copy_async<16>(stage + striped_cell(row), place);
                    } else {
                        rows[row].load(place);
                    }
                }
                return;
            }
        }
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const vector items = load_some(args, from + row * geometry::row_items,
                                           size - first - row * geometry::row_items);
            if constexpr (P::staged) {
                put(striped_cell(row), items);
            } else {
                rows[row] = items;
            }
        }
    }

    __device__ __forceinline__ void arrive() const {
        if constexpr (P::staged) {
            arch::close_copies();
            arch::wait_for_copies<0>();
            if constexpr (P::blocked) __syncwarp();  // what other lanes asked for is there
        }
    }

    __device__ __forceinline__ void lane_totals(Op op) {
#pragma unroll
        for (int row = 0; row < P::rows; ++row) {
            const bool continues = P::blocked && row > 0;
            const vector items = at(row);
            T total = continues ? op(scans[0], items.get(0)) : items.get(0);
#pragma unroll
            for (int item = 1; item < vector::items; ++item) total = op(total, items.get(item));
            scans[P::blocked ? 0 : row] = total;
        }
    }

    /// Lane totals once more, from the items: to hold the first ones while the tile waits would
    /// spill registers.
    __device__ __forceinline__ void lane_totals_again(Op op) {
        if constexpr (!P::staged) {
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
#pragma unroll
                for (int word = 0; word < vector::words; ++word) {
                    arch::forget_derived(rows[row].slice[word]);
                }
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
            for (int row = 0; row < P::rows; ++row) {
                vector items = at(row);
                write_row(args, items, base, op);
                if constexpr (P::staged) {
                    put(own_cell(row), items);
                } else {
                    rows[row] = items;
                }
            }
            if constexpr (P::staged) {
                __syncwarp();  // all results of the warp are there
            } else {
                turn::to_striped(rows, turning);
            }
#pragma unroll
            for (int row = 0; row < P::rows; ++row) {
                store(args, to, row, left,
                      P::staged ? get(striped_cell(row)) : rows[P::staged ? 0 : row]);
            }
        } else {
            finish_rows(args, to, left, base, op);
        }
    }

    /// Writes `items` as row `row`; `to` is the place of the lane's first item, `left` items of the
    /// array lie from there on.
    __device__ __forceinline__ static void store(const scan_arguments<T>& args, T* to, int row,
                                                 int left, const vector& items) {
        const int skip = row * geometry::row_items;
        if constexpr (vector::vectorises) {
            if (args.aligned_out && left - skip >= vector::items) {
                items.store(to + skip);
                return;
            }
        }
        tile::store_items(to + skip, left - skip, items);
    }

private:
    static_assert(!P::staged || sizeof(vector) == sizeof(uint4));

    /// Where a row's vector lies as it comes, and where one of the lane's own.
    __device__ static int striped_cell(int row) {
        return row * turning_space<P, T>::row_cells +
               (P::blocked ? turn::cell(arch::lane()) : arch::lane());
    }
    __device__ static int own_cell(int row) {
        return P::blocked ? turn::cell(arch::lane() * P::rows + row) : striped_cell(row);
    }
    __device__ __forceinline__ vector get(int cell) const {
        vector items;
        memcpy(&items, stage + cell, sizeof(uint4));
        return items;
    }
    __device__ __forceinline__ void put(int cell, const vector& items) const {
        memcpy(stage + cell, &items, sizeof(uint4));
    }
    __device__ __forceinline__ vector at(int row) const {
        if constexpr (P::staged) {
            return get(own_cell(row));
        } else {
            return rows[row];
        }
    }

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
            vector items = at(row);
            write_row(args, items, seed, op);
            preceding<T, Op>& carried = tree ? rows_before : base;
            const T total = row_total(row);
            carried = tree && row == 0 ? preceding<T, Op>{total, true} : carried.then(total, op);
            store(args, to, row, left, items);
        }
    }

    /// A row of a short or unaligned tile. Lanes beyond the end read items of the array again, so
    /// that op never sees anything else; nothing depends on them.
    __device__ __forceinline__ static vector load_some(const scan_arguments<T>& args, const T* from,
                                                       int left) {
        if constexpr (vector::vectorises) {
            const bool beyond = left <= 0 && args.items >= vector::items;
            if (args.aligned_in && (left >= vector::items || beyond)) {
                vector items;
                items.load(beyond ? args.in : from);
                return items;
            }
        }
        return tile::load_items(from, left);
    }

    /// Turns the items of a row into results; `seed` precedes them and, outside the tree, ends up
    /// as what precedes the lane's next items.
    __device__ __forceinline__ void write_row(const scan_arguments<T>& args, vector& items,
                                              preceding<T, Op>& seed, Op op) {
        if (args.exclusive) {
            write_row<true>(items, seed, op);
        } else {
            write_row<false>(items, seed, op);
        }
    }

    template <bool Exclusive>
    __device__ __forceinline__ void write_row(vector& items, preceding<T, Op>& seed, Op op) {
        if constexpr (tree) {
            T in_lane = items.get(0);
            items.set(0, Exclusive ? seed.value : seed.before(in_lane, op));
#pragma unroll
            for (int item = 1; item < vector::items; ++item) {
                const T value = items.get(item);
                const T up_to = op(in_lane, value);
                items.set(item, seed.before(Exclusive ? in_lane : up_to, op));
                in_lane = up_to;
            }
        } else {
#pragma unroll
            for (int item = 0; item < vector::items; ++item) {
                const T before = seed.value;
                seed = seed.then(items.get(item), op);
                items.set(item, Exclusive ? before : seed.value);
            }
        }
    }
};

}  // namespace lookback::device
