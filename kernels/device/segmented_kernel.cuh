// Level L5 (device): the kernel of segmented scan, and of reductions by the same rows. Tiles are
// equal parts of the items, whatever the segments; heads are bytes in shared memory. Invariant: a
// tile with a head publishes its open end as a prefix at once: look-back stops there. Progress
// depends on no order of dispatch: tiles are taken by ticket. Source: Blelloch (1990); Sengupta et
// al. (2007); Merrill and Garland (2016).
#pragma once

#include <lookback/kernels/device/scan_lookback.cuh>
#include <lookback/kernels/device/segmented_offsets.cuh>
#include <lookback/kernels/device/segmented_tile.cuh>

namespace lookback::device {

enum class segmented_result { items, totals };

template <class T>
struct segmented_arguments {
    scan_arguments<T> scan;
    segment_list list;
    const index_t* bounds;
    T start;  ///< precedes the first item of each segment
    T empty;
};

template <class P>
inline constexpr bool follows_tree = P::combine == tuning::combination::fixed_tree;

/// What a tile tells: in the fixed tree pairs, so that nothing depends on who looked when.
template <class P, class T>
using told_value = std::conditional_t<follows_tree<P>, core::headed<T>, T>;

template <class P, class T>
using tile_pairs = scan_shared<P, core::headed<T>>;

/// Bytes of dynamic shared memory: heads and the scanned items of a reduction.
template <class P, class T, segmented_result Result>
inline constexpr std::size_t segmented_shared_bytes =
    static_cast<std::size_t>(tile_geometry<P, T>::tile_items) *
    (1 + (Result == segmented_result::totals ? sizeof(T) : 0));

/// The offsets of a tile.
struct tile_offsets {
    index_t begin;  ///< the tile's first item
    index_t end;
    index_t from;  ///< offsets [from, to) lie in (begin, end]
    index_t to;

    template <class P, class T>
    __device__ static tile_offsets of(const segmented_arguments<T>& args, index_t tile) {
        const core::tile_shape shape{args.scan.items, tile_geometry<P, T>::tile_items};
        const index_t begin = shape.begin(tile);
        return {begin, begin + shape.size(tile), args.bounds[tile], args.bounds[tile + 1]};
    }
};

template <class P, class T>
__device__ __forceinline__ void mark_heads(const segmented_arguments<T>& args,
                                           const tile_offsets& own, unsigned char* heads) {
    for_offsets_of_tile<P::threads>(args.list, own.from, own.to, static_cast<int>(threadIdx.x),
                                    [&](index_t, index_t, index_t offset) {
                                        if (offset < own.end) heads[offset - own.begin] = 1;
                                    });
    if (threadIdx.x == 0 && args.list.offsets[own.from - 1] == own.begin) heads[0] = 1;
}

/// Tells what follows the tile's last head, as a prefix, or the whole, as an aggregate; by one
/// thread.
template <class T>
__device__ __forceinline__ void tell_total(const scan_channel& channel, index_t tile,
                                           const core::headed<T>& total) {
    tell(channel.tiles, tile, channel.epoch,
         total.head != 0 ? core::tile_state::prefix : core::tile_state::aggregate, total.value);
}

/// What precedes the tile since the nearest head; tells a tile without a head its prefix. By one
/// warp, after tell_total(), and only where the tile's first item is no head.
template <class T, class Op>
__device__ __forceinline__ T walk_to_head(const scan_channel& channel, index_t tile,
                                          const core::headed<T>& total, Op op) {
    const core::patient_waiter waiter;  // all earlier tiles have running blocks
    const T before =
        core::exclusive_prefix<scan_window<T>>(channel.tiles, tile, channel.epoch, op, waiter);
    if (arch::lane() == 0 && total.head == 0) {
        tell(channel.tiles, tile, channel.epoch, core::tile_state::prefix, op(before, total.value));
    }
    return before;
}

/// Warp 0 publishes and walks; ends with a barrier, after which every thread gets what precedes
/// the tile, and warps_before is there.
template <class P, class T, class Op>
__device__ __forceinline__ T wait_for_before(const scan_channel& channel, index_t tile,
                                             bool begins_with_head, tile_pairs<P, T>& shared,
                                             Op op) {
    const core::join_headed<Op> join{op};
    if (arch::warp() == 0) {
        const core::headed<T> total = fold(shared.warp_totals, P::warps, join);
        if (arch::lane() == 0) tell_total(channel, tile, total);
        T before{};
        if (!begins_with_head) before = walk_to_head(channel, tile, total, op);
        if (arch::lane() == 0) shared.before = {before, 0};
    }
    combine_warps<P>(shared, join);
    __syncthreads();  // before and warps_before are written
    return shared.before.value;
}

/// What precedes the tile by the fixed tree.
template <class P, class T, class Op>
__device__ __forceinline__ T read_tree(const segmented_arguments<T>& args,
                                       const scan_channel& channel, index_t tile,
                                       tile_pairs<P, T>& shared, Op op) {
    scan_arguments<core::headed<T>> pairs{};
    pairs.items = args.scan.items;
    pairs.tiles = args.scan.tiles;
    return read_group<P>(pairs, channel, tile, shared, core::join_headed<Op>{op}, [] {})
        .value.value;
}

/// The results of a tile, item by item.
template <class P, class T, class Op, class Finish>
__device__ __forceinline__ void finish_items(const segmented_arguments<T>& args,
                                             const tile_offsets& offsets,
                                             segmented_tile<P, T, Op>& own,
                                             const unsigned char* heads, const T& base, Op op,
                                             Finish finish) {
    const int first = own.items.first_item();
    const int left = static_cast<int>(offsets.end - offsets.begin) - first;
    T* to = args.scan.out + offsets.begin + first;
    const auto store = [&](int row) {
        own.items.store(args.scan, to, row, left, own.items.rows[row]);
    };
    if (args.scan.exclusive) {
        own.template finish<true>(heads, base, args.start, op, finish, store);
    } else {
        own.template finish<false>(heads, base, args.start, op, finish, store);
    }
}

/// The totals of the segments that end in a tile: its scanned items go through shared memory.
template <class P, class T, class Op, class Finish>
__device__ __forceinline__ void finish_totals(const segmented_arguments<T>& args,
                                              const tile_offsets& offsets,
                                              segmented_tile<P, T, Op>& own,
                                              const unsigned char* heads, T* scanned, const T& base,
                                              Op op, Finish finish) {
    T* to = scanned + own.items.first_item();
    own.template finish<false>(heads, base, args.start, op, finish, [&](int row) {
        own.items.rows[row].store(to + row * tile_geometry<P, T>::row_items);
    });
    __syncthreads();  // all results of the tile are there
    for_offsets_of_tile<P::threads>(
        args.list, offsets.from, offsets.to, static_cast<int>(threadIdx.x),
        [&](index_t j, index_t begin, index_t end) {
            args.scan.out[j - 1] = begin == end ? args.empty : scanned[end - offsets.begin - 1];
        });
}

template <class P, class T, class Op, segmented_result Result>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    segmented_scan_kernel(const segmented_arguments<T> args, const scan_words words, const Op op) {
    using geometry = tile_geometry<P, T>;
    constexpr bool totals = Result == segmented_result::totals;
    __shared__ tile_pairs<P, T> shared;
    auto* heads = static_cast<unsigned char*>(arch::dynamic_shared());
    if (threadIdx.x == 0) {
        shared.arrival =
            tile::arrive(words.shared, gridDim.x, slots_of(args.scan.tiles) * words.stride);
    }
    clear_heads<P>(heads, geometry::tile_items);
    arch::wait_for_earlier_kernel();  // that finds the bounds
    __syncthreads();                  // the ticket is written, heads are clear
    segmented_tile<P, T, Op> own;
    {
        const tile_offsets offsets = tile_offsets::of<P>(args, shared.arrival.order);
        own.items.load_striped(args.scan, shared.arrival.order);
        mark_heads<P>(args, offsets, heads);
    }
    __syncthreads();  // heads are marked
    own.combine(heads, args.start, op);
    const core::headed<T> warp_total = own.warp_total(op);
    const int warp = arch::warp();
    if (arch::lane() == 0) shared.warp_totals[warp] = warp_total;
    __syncthreads();  // warp totals are written
    scan_channel channel = words.channel(args.scan.tiles);
    channel.epoch = shared.arrival.epoch;
    // Read anew: to hold them through the combination would spill registers.
    const index_t tile = shared.arrival.order;
    const tile_offsets offsets = tile_offsets::of<P>(args, tile);
    T base;
    if constexpr (follows_tree<P>) {
        base = read_tree(args, channel, tile, shared, op);
    } else {
        base = wait_for_before(channel, tile, heads[0] != 0, shared, op);
    }
    if (warp > 0) {
        const core::headed<T> before = shared.warps_before[warp];
        base = before.head != 0 ? before.value : op(base, before.value);
    }
    // In the fixed tree an initial value is no part of it and joins each result last.
    const bool joins = follows_tree<P> && args.scan.has_init;
    const auto finish = [&](const T& result) {
        return joins ? op(args.scan.init, result) : result;
    };
    if constexpr (totals) {
        auto* scanned = reinterpret_cast<T*>(heads + geometry::tile_items);
        finish_totals(args, offsets, own, heads, scanned, base, op, finish);
    } else {
        finish_items<P>(args, offsets, own, heads, base, op, finish);
    }
    if constexpr (totals) {
        for_constant_chunks<P::threads>(args.list,
                                        [&](index_t s) { args.scan.out[s] = args.empty; });
    }
}

}  // namespace lookback::device
