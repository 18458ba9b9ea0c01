// Level L5 (device): stable compaction of an array in device memory, in one launch, by any mark
// source (compact_marks.cuh): the rows that pass, those that do not, or their numbers.
// Invariant: never synchronises and allocates nothing; can be captured in a CUDA graph. Progress
// depends on no order in which blocks are dispatched.
#pragma once

#include <lookback/kernels/device/compact_kernel.cuh>

#include <limits>

namespace lookback::device {

/// What to compact: `rows` is moved_items, row_numbers or marks_alone. Arrays are aligned to their
/// items; 16-byte alignment is faster. Nothing overlaps but kept = in, which in_place says.
template <class Rows>
struct compact_request {
    static constexpr index_t ample = std::numeric_limits<index_t>::max();

    Rows rows;
    index_t items;
    index_t* count = nullptr;  ///< device memory: gets how many rows pass, whatever the room
    index_t kept_room = ample;
    index_t rest_room = ample;
    bool inverted = false;  ///< rows without a mark pass
    bool in_place = false;
};

template <class P, class Rows>
compact_arguments<Rows> arguments_of(const compact_request<Rows>& request) {
    const core::tile_shape shape{request.items, compact_geometry<P, Rows::items>::tile_items};
    return {request.rows,      request.items,
            shape.tiles(),     request.kept_room,
            request.rest_room, request.inverted ? ~std::uint32_t{0} : std::uint32_t{0},
            request.in_place,  request.count};
}

/// Large inputs, then what is faster for those that fit in one group of its tiles; void: nothing.
template <class Large, class Middle, class Small>
struct compact_policies {
    using large = Large;
    using middle = Middle;
    using small = Small;
};

/// The policies for what moves and what marks it.
template <class Rows, class Source>
constexpr auto policies_of() {
    using namespace tuning;
    constexpr std::size_t bytes = sizeof(typename Rows::staged);
    if constexpr (std::is_same_v<Rows, marks_alone>) {
        return compact_policies<mark_policy, void, void>{};
    } else if constexpr (std::is_same_v<typename Rows::staged, std::uint16_t> &&
                         Rows::items == 16) {
        return compact_policies<number_rows, void, small_number_rows>{};
    } else if constexpr (looks_at_rows<Source, Rows>) {
        return compact_policies<large_compact<bytes>, middle_compact, small_compact>{};
    } else {
        return compact_policies<large_by_flags<bytes>, middle_compact, small_compact>{};
    }
}
template <class Rows, class Source>
using policies_for = decltype(policies_of<Rows, Source>());

/// Whether all rows lie in one group of the policy's tiles.
template <class P, class Rows>
constexpr bool in_one_group(index_t items) {
    if constexpr (std::is_void_v<P>) {
        return false;
    } else {
        return items <= index_t{group_tiles} * compact_geometry<P, Rows::items>::tile_items;
    }
}

/// Workspace for compactions of up to `items` rows of any kind.
inline std::size_t compact_workspace_bytes(index_t items) {
    constexpr index_t least_tile = 256 * tuning::large_by_flags<16>::rows;
    const std::size_t large = scan_workspace_bytes<std::uint64_t>(items, least_tile);
    const std::size_t small = scan_workspace_bytes<std::uint32_t>(group_tiles, 1);
    return large > small ? large : small;
}

namespace detail {

template <class P, class Rows, class... Parameters>
cudaError_t launch_compact(void (*kernel)(compact_arguments<Rows>, Parameters...),
                           const compact_arguments<Rows>& args, cudaStream_t stream,
                           std::type_identity_t<Parameters>... rest) {
    constexpr std::size_t bytes = compact_shared_bytes<P, Rows>;
    if constexpr (bytes > 40 * 1024) {
        const cudaError_t allowed =
            cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (allowed != cudaSuccess) return allowed;
    }
    return arch::launch(kernel, {static_cast<unsigned>(args.tiles), P::threads, bytes}, stream,
                        args, rest...);
}

}  // namespace detail

/// A compaction under a policy: the building block of compact().
template <class P, class Rows, class Source>
cudaError_t compact_under(const scan_workspace& workspace, const compact_request<Rows>& request,
                          const Source& source, cudaStream_t stream) {
    using geometry = compact_geometry<P, Rows::items>;
    static_assert(std::is_trivially_copyable_v<Source>);
    if (request.items <= 0) {
        return request.count == nullptr
                   ? cudaSuccess
                   : cudaMemsetAsync(request.count, 0, sizeof(*request.count), stream);
    }
    if (workspace.bytes < scan_workspace_bytes<row_count<P>>(request.items, geometry::tile_items)) {
        return cudaErrorInvalidValue;
    }
    return detail::launch_compact<P, Rows>(lookback_compact<P, Rows, Source>,
                                           arguments_of<P>(request), stream,
                                           words_of<row_count<P>>(workspace), source);
}

/// The rows that pass to `kept` and, where that is wanted, the others to `rest`, in their order.
///
/// Traffic: what the source reads, one read a row, and one write of each row that is wanted.
/// Determinism: the same bytes in every run. Stream: ordered, asynchronous. Extra memory: the
/// workspace (compact_workspace_bytes), prepared once and shared with scans.
/// Returns cudaErrorInvalidValue for a workspace that is too small.
template <class Rows, class Source>
cudaError_t compact(const scan_workspace& workspace, const compact_request<Rows>& request,
                    const Source& source, cudaStream_t stream) {
    using policies = policies_for<Rows, Source>;
    if constexpr (!std::is_void_v<typename policies::small>) {
        if (in_one_group<typename policies::small, Rows>(request.items)) {
            return compact_under<typename policies::small>(workspace, request, source, stream);
        }
    }
    if constexpr (!std::is_void_v<typename policies::middle>) {
        if (in_one_group<typename policies::middle, Rows>(request.items)) {
            return compact_under<typename policies::middle>(workspace, request, source, stream);
        }
    }
    return compact_under<typename policies::large>(workspace, request, source, stream);
}

/// Moves one more column by the bits and offsets that a compaction of marks_alone wrote, which
/// hold inversion already. Not in place. Traffic: the bits, and as above.
template <class Rows>
cudaError_t move_by_marks(const compact_request<Rows>& request, const std::uint32_t* words,
                          const index_t* offsets, cudaStream_t stream) {
    using policy = tuning::marked_column<sizeof(typename Rows::staged)>;
    if (request.items <= 0) return cudaSuccess;
    if (request.in_place || request.inverted) return cudaErrorInvalidValue;
    return detail::launch_compact<policy, Rows>(move_marked<policy, Rows>,
                                                arguments_of<policy>(request), stream,
                                                bit_flags{words}, offsets);
}

}  // namespace lookback::device
