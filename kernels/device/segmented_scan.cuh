// Level L5 (device): inclusive and exclusive scan, and reduction, of each segment of an array by
// itself; segments by CSR offsets.
// Invariant: never synchronises and allocates nothing; can be captured in a CUDA graph. The time
// depends on the items and the number of segments, not on their lengths.
// Source: see segmented_kernel.cuh, segmented_reduce.cuh.
#pragma once

#include <lookback/kernels/device/scan.cuh>
#include <lookback/kernels/device/segmented_reduce.cuh>

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

template <class T>
__global__ void __launch_bounds__(256) fill_totals(T* out, index_t segments, T empty) {
    const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
    for (index_t s = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; s < segments;
         s += step) {
        out[s] = empty;
    }
}

/// Items of a tile of a segmented scan or reduction.
template <class P, segmented_result Result, class T>
inline constexpr index_t segmented_tile_items = [] {
    if constexpr (Result == segmented_result::totals && P::by_strips) {
        return strip_geometry<P, T>::tile_items;
    } else {
        return tile_geometry<P, T>::tile_items;
    }
}();

template <class P, segmented_result Result, class T>
constexpr index_t segmented_tiles(index_t items) {
    return core::tile_shape{items, segmented_tile_items<P, Result, T>}.tiles();
}

/// Starts the kernel of a segmented scan or reduction, whose bounds are being found.
template <class P, segmented_result Result, class T, class Op>
cudaError_t launch_segmented(const segmented_arguments<T>& args, const scan_words& words, Op op,
                             cudaStream_t stream) {
    if constexpr (Result == segmented_result::totals && P::by_strips) {
        const auto blocks =
            static_cast<unsigned>(core::ceil_div<index_t>(args.scan.tiles, P::warps));
        return arch::launch(segmented_reduce_kernel<P, T, Op>, {blocks, P::threads, 0, true},
                            stream, args, words, op);
    } else {
        constexpr std::size_t shared_bytes = segmented_shared_bytes<P, T, Result>;
        return arch::launch(
            segmented_scan_kernel<P, T, Op, Result>,
            {static_cast<unsigned>(args.scan.tiles), P::threads, shared_bytes, true}, stream, args,
            words, op);
    }
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
    constexpr index_t tile_items = segmented_tile_items<P, Result, T>;
    if (workspace.shared.bytes < scan_workspace_bytes<told>(scan.items, tile_items)) {
        return cudaErrorInvalidValue;
    }
    segmented_arguments<T> args{arguments_of(scan), request.list, workspace.bounds,
                                Op::template identity<T>(), request.empty};
    args.scan.tiles = segmented_tiles<P, Result, T>(scan.items);
    if (!follows_tree<P>) args.start = scan.init.value_or(args.start);
    const cudaError_t status =
        launch_find_bounds(request.list, tile_items, args.scan.tiles, workspace.bounds, stream);
    if (status != cudaSuccess) return status;
    return launch_segmented<P, Result>(args, words_of<told>(workspace.shared), op, stream);
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
    return segmented_under<tuning::segmented_totals<T>, segmented_result::totals>(
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
