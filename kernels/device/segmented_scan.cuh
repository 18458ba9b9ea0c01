// Level L5 (device): inclusive and exclusive scan, and reduction, of each segment of an array by
// itself; segments by CSR offsets. Tiles are equal parts of the items, whatever the segments.
// Invariant: a tile with a head publishes its open end as a prefix at once: look-back stops there.
// Progress depends on no order of dispatch: tiles are taken by ticket.
// Source: Blelloch (1990); Merrill and Garland (2016).
#pragma once

#include <lookback/kernels/device/scan.cuh>
#include <lookback/kernels/device/segmented_offsets.cuh>
#include <lookback/kernels/device/segmented_tile.cuh>

namespace lookback::device {

/// What to scan or reduce: the segments of `scan.in`. For a reduction `scan.out` has one item a
/// segment and overlaps nothing, `scan.exclusive` is not looked at, and `empty` is what an empty
/// segment gives.
template <class T>
struct segmented_request {
    scan_request<T> scan;
    segment_list list;
    T empty{};
};

/// Memory that only segmented scans need: one index for each tile and one more, overwritten.
struct segmented_workspace {
    scan_workspace shared;
    index_t* bounds;
};

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

template <class P, class T, segmented_result Result>
inline constexpr std::size_t segmented_shared_bytes =
    static_cast<std::size_t>(tile_geometry<P, T>::tile_items) *
    (1 + (Result == segmented_result::totals ? sizeof(T) : 0));

template <class P>
__device__ __forceinline__ void clear_heads(unsigned char* heads, int bytes) {
    auto* cells = reinterpret_cast<uint4*>(heads);
    for (int cell = static_cast<int>(threadIdx.x); cell < bytes / 16; cell += P::threads) {
        cells[cell] = uint4{0, 0, 0, 0};
    }
}

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
    for_offsets_of_tile<P::threads>(args.list, own.from, own.to, [&](index_t, index_t offset) {
        if (offset < own.end) heads[offset - own.begin] = 1;
    });
    if (threadIdx.x == 0 && args.list.offsets[own.from - 1] == own.begin) heads[0] = 1;
}

/// Warp 0 publishes and walks to the nearest head; ends with a barrier, after which every thread
/// gets what precedes the tile. Where the tile's first item is a head nobody asks for that.
template <class P, class T, class Op>
__device__ __forceinline__ T walk_to_head(const scan_channel& channel, index_t tile,
                                          bool begins_with_head,
                                          scan_shared<P, core::headed<T>>& shared, Op op) {
    const core::join_headed<Op> join{op};
    if (arch::warp() == 0) {
        const core::headed<T> total = fold(shared.warp_totals, P::warps, join);
        const bool head = total.head != 0;
        if (arch::lane() == 0) {
            tell(channel.tiles, tile, channel.epoch,
                 head ? core::tile_state::prefix : core::tile_state::aggregate, total.value);
        }
        T before{};
        if (!begins_with_head) {
            const core::patient_waiter waiter;  // all earlier tiles have running blocks
            before = core::exclusive_prefix<scan_window<T>>(channel.tiles, tile, channel.epoch, op,
                                                            waiter);
            if (arch::lane() == 0 && !head) {
                tell(channel.tiles, tile, channel.epoch, core::tile_state::prefix,
                     op(before, total.value));
            }
        }
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
                                       scan_shared<P, core::headed<T>>& shared, Op op) {
    scan_arguments<core::headed<T>> pairs{};
    pairs.items = args.scan.items;
    pairs.tiles = args.scan.tiles;
    return read_group<P>(pairs, channel, tile, shared, core::join_headed<Op>{op}, [] {})
        .value.value;
}

/// Writes one item a segment that ends in the tile, from the scanned items.
template <class P, class T>
__device__ __forceinline__ void write_totals(const segmented_arguments<T>& args,
                                             const tile_offsets& own, const T* scanned) {
    const index_t* offsets = args.list.offsets;
    for_offsets_of_tile<P::threads>(args.list, own.from, own.to, [&](index_t j, index_t end) {
        const bool empty = offsets[j - 1] == end;
        args.scan.out[j - 1] = empty ? args.empty : scanned[end - 1 - own.begin];
    });
}

template <class P, class T, class Op, segmented_result Result>
__global__ void __launch_bounds__(P::threads, P::blocks_per_sm)
    segmented_scan_kernel(const segmented_arguments<T> args, const scan_words words, const Op op) {
    using geometry = tile_geometry<P, T>;
    __shared__ scan_shared<P, core::headed<T>> shared;
    auto* heads = static_cast<unsigned char*>(arch::dynamic_shared());
    if (threadIdx.x == 0) {
        shared.arrival =
            tile::arrive(words.shared, gridDim.x, slots_of(args.scan.tiles) * words.stride);
    }
    clear_heads<P>(heads, geometry::tile_items);
    __syncthreads();  // the ticket is written, heads are clear
    const index_t tile = shared.arrival.order;
    segmented_tile<P, T, Op> own;
    own.items.load(args.scan, tile, nullptr);
    const tile_offsets offsets = tile_offsets::of<P>(args, tile);
    mark_heads<P>(args, offsets, heads);
    __syncthreads();  // heads are marked
    own.combine(heads, args.start, op);
    const int warp = arch::warp();
    const core::headed<T> total = own.warp_total(op);
    if (arch::lane() == 0) shared.warp_totals[warp] = total;
    __syncthreads();  // warp totals are written
    scan_channel channel = words.channel(args.scan.tiles);
    channel.epoch = shared.arrival.epoch;
    T base;
    if constexpr (follows_tree<P>) {
        base = read_tree(args, channel, tile, shared, op);
    } else {
        base = walk_to_head(channel, tile, heads[0] != 0, shared, op);
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
    const int first = own.items.first_item();
    if constexpr (Result == segmented_result::totals) {
        auto* scanned = reinterpret_cast<T*>(heads + geometry::tile_items);
        own.template finish<false>(heads, base, args.start, op, finish, [&](int row, auto& items) {
            items.store(scanned + first + row * geometry::row_items);
        });
        __syncthreads();  // all results of the tile are there
        write_totals<P>(args, offsets, scanned);
        for_constant_chunks<P::threads>(args.list,
                                        [&](index_t s) { args.scan.out[s] = args.empty; });
    } else {
        const int left = static_cast<int>(offsets.end - offsets.begin) - first;
        T* to = args.scan.out + offsets.begin + first;
        const auto store = [&](int row, auto&) { own.items.store(args.scan, to, row, left); };
        if (args.scan.exclusive) {
            own.template finish<true>(heads, base, args.start, op, finish, store);
        } else {
            own.template finish<false>(heads, base, args.start, op, finish, store);
        }
    }
}

template <class T>
__global__ void __launch_bounds__(256) fill_totals(T* out, index_t segments, T empty) {
    const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
    for (index_t s = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; s < segments;
         s += step) {
        out[s] = empty;
    }
}

/// Tiles of a segmented scan of so many items.
template <class P, class T>
constexpr index_t segmented_tiles(index_t items) {
    return core::tile_shape{items, tile_geometry<P, T>::tile_items}.tiles();
}

template <class P, segmented_result Result, class T, class Op>
cudaError_t segmented_under(const segmented_workspace& workspace,
                            const segmented_request<T>& request, Op op, cudaStream_t stream) {
    static_assert(preceding<T, Op>::has_identity, "segments begin with the identity, or with init");
    const scan_request<T>& scan = request.scan;
    if (scan.items <= 0) {
        if (Result == segmented_result::items || request.list.segments <= 0) return cudaSuccess;
        return arch::launch(fill_totals<T>, {264, 256}, stream, scan.out, request.list.segments,
                            request.empty);
    }
    using told = told_value<P, T>;
    constexpr index_t tile_items = tile_geometry<P, T>::tile_items;
    if (workspace.shared.bytes < scan_workspace_bytes<told>(scan.items, tile_items)) {
        return cudaErrorInvalidValue;
    }
    segmented_arguments<T> args{arguments_of(scan), request.list, workspace.bounds,
                                Op::template identity<T>(), request.empty};
    args.scan.tiles = segmented_tiles<P, T>(scan.items);
    if (!follows_tree<P>) args.start = scan.init.value_or(args.start);
    const cudaError_t status =
        launch_find_bounds(request.list, tile_items, args.scan.tiles, workspace.bounds, stream);
    if (status != cudaSuccess) return status;
    constexpr std::size_t shared_bytes = segmented_shared_bytes<P, T, Result>;
    const auto kernel = segmented_scan_kernel<P, T, Op, Result>;
    if constexpr (shared_bytes > 32 * 1024) {
        const cudaError_t allowed = cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
        if (allowed != cudaSuccess) return allowed;
    }
    return arch::launch(kernel, {static_cast<unsigned>(args.scan.tiles), P::threads, shared_bytes},
                        stream, args, words_of<told>(workspace.shared), op);
}

/// Bytes of the shared workspace, and indices of bounds, for `items` items by any of the functions
/// below.
template <class T>
std::size_t segmented_workspace_bytes(index_t items) {
    return scan_workspace_bytes<core::headed<T>>(items, tuning::least_segmented_tile<T>);
}
template <class T>
index_t segmented_bounds(index_t items) {
    return core::tile_shape{items, tuning::least_segmented_tile<T>}.tiles() + 1;
}

/// out[i] = start op in[begin] op ... op in[i] for each i of each segment [begin, end); exclusive:
/// up to in[i - 1]. `start` is init, or op's identity.
///
/// Shapes: offsets valid, the last equal to items. Aliasing: out may be in. Traffic: each item read
/// and written once, each offset read once or twice. Determinism: exact for associative operators.
/// Stream: ordered, asynchronous, can be captured in a graph. Extra memory: the workspace.
/// Returns cudaErrorInvalidValue for a workspace that is too small.
template <class T, class Op>
cudaError_t segmented_scan(const segmented_workspace& workspace,
                           const segmented_request<T>& request, Op op, cudaStream_t stream) {
    return segmented_under<tuning::segmented_policy<T>, segmented_result::items>(workspace, request,
                                                                                 op, stream);
}

/// out[s] = start op in[offsets[s]] op ... op in[offsets[s + 1] - 1]; an empty segment gives
/// request.empty. All else as segmented_scan(), with one write a segment.
template <class T, class Op>
cudaError_t segmented_reduce(const segmented_workspace& workspace,
                             const segmented_request<T>& request, Op op, cudaStream_t stream) {
    return segmented_under<tuning::segmented_policy<T>, segmented_result::totals>(
        workspace, request, op, stream);
}

/// Both with the same bits from every run, machine and backend: plus and multiplies of floats.
template <segmented_result Result, class T, class Op>
cudaError_t segmented_reproducible(const segmented_workspace& workspace,
                                   const segmented_request<T>& request, Op op,
                                   cudaStream_t stream) {
    return segmented_under<tuning::segmented_reproducible<T>, Result>(workspace, request, op,
                                                                      stream);
}

}  // namespace lookback::device
