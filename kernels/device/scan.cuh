// Level L5 (device): inclusive and exclusive scan of an array in device memory, by any strategy.
// Invariant: never synchronises and allocates nothing; can be captured in a CUDA graph. Progress
// depends on no order in which blocks are dispatched.
// Source: see scan_lookback.cuh, scan_passes.cuh.
#pragma once

#include <lookback/kernels/device/scan_passes.cuh>

#include <optional>

namespace lookback::device {

enum class scan_strategy {
    automatic,     ///< single for small inputs, else fallback
    single,        ///< one launch, small tiles; each reads all earlier totals at once
    three_launch,  ///< totals, scan of totals, scan: the reference
    grid_barrier,  ///< the same in one cooperative launch
    lookback,      ///< decoupled look-back, tiles taken by an atomic counter
    bounded,       ///< look-back within fixed groups of 256 tiles
    fallback,      ///< decoupled look-back in block order; waiting warps help
};

/// What to scan. `out` may be `in`; any other overlap is not allowed. Both must be aligned to T;
/// 16-byte alignment of both is faster.
template <class T>
struct scan_request {
    const T* in;
    T* out;
    index_t items;
    bool exclusive = false;
    std::optional<T> init = std::nullopt;
};

/// Operators that say `static constexpr bool commutes = false` are applied in order only.
template <class Op>
inline constexpr bool commutes = [] {
    if constexpr (requires { Op::commutes; }) {
        return static_cast<bool>(Op::commutes);
    } else {
        return true;
    }
}();

template <class Policy, class T, class Op>
using policy_for = std::conditional_t<commutes<Op>, Policy, tuning::in_order<Policy, T>>;

template <class T>
scan_arguments<T> arguments_of(const scan_request<T>& request) {
    const auto aligned = [](const T* pointer) {
        return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
    };
    return {request.in,
            request.out,
            request.items,
            0,
            request.init.value_or(T{}),
            request.init.has_value(),
            request.exclusive,
            aligned(request.in),
            aligned(request.out)};
}

/// Workspace for scans of up to `items` items by any strategy. Extra memory: 8 bytes for each 4 of
/// an item and tile of 8 KiB, 33 KiB at least.
template <class T>
std::size_t scan_workspace_bytes(index_t items) {
    return scan_workspace_bytes<T>(items, tile_geometry<tuning::small_scan<T>, T>::tile_items);
}

/// A single-pass scan under a policy: the building block of the strategies below.
template <class Policy, class T, class Op>
cudaError_t scan_under(const scan_workspace& workspace, const scan_request<T>& request, Op op,
                       cudaStream_t stream) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>,
                  "items are moved as bytes and kept in shared memory");
    if (request.items <= 0) return cudaSuccess;
    const bool needs_init = request.exclusive && !request.init.has_value();
    if (needs_init && !preceding<T, Op>::has_identity) return cudaErrorInvalidValue;
    if (workspace.bytes <
        scan_workspace_bytes<T>(request.items, tile_geometry<Policy, T>::tile_items)) {
        return cudaErrorInvalidValue;
    }
    return launch_lookback<Policy, T, Op>(arguments_of(request), words_of<T>(workspace), op,
                                          stream);
}

/// The strategy that `automatic` stands for.
template <class T>
constexpr scan_strategy automatic_strategy(index_t items) {
    constexpr index_t bytes = sizeof(T);
    if (items <= tuning::small_bytes / bytes) return scan_strategy::single;
    if (items <= tuning::middle_bytes / bytes) return scan_strategy::bounded;
    return scan_strategy::fallback;
}

/// out[i] = init op in[0] op ... op in[i] (exclusive: up to in[i - 1]), by `automatic`.
///
/// Traffic: one read and one write an item. Determinism: exact for associative operators.
/// Stream: ordered, asynchronous. Extra memory: the workspace, prepared once.
/// Returns cudaErrorInvalidValue for a workspace that is too small, or an exclusive scan without
/// init by an operator without identity.
template <class T, class Op>
cudaError_t scan(const scan_workspace& workspace, const scan_request<T>& request, Op op,
                 cudaStream_t stream) {
    switch (automatic_strategy<T>(request.items)) {
        case scan_strategy::single:
            return scan_under<policy_for<tuning::small_scan<T>, T, Op>>(workspace, request, op,
                                                                        stream);
        case scan_strategy::bounded:
            return scan_under<policy_for<tuning::bounded_scan<T>, T, Op>>(workspace, request, op,
                                                                          stream);
        default:
            return scan_under<policy_for<tuning::fallback_scan<T>, T, Op>>(workspace, request, op,
                                                                           stream);
    }
}

/// The same bits from every run, machine and backend: plus and multiplies of floats.
template <class T, class Op>
cudaError_t reproducible_scan(const scan_workspace& workspace, const scan_request<T>& request,
                              Op op, cudaStream_t stream) {
    return scan_under<tuning::reproducible_scan<T>>(workspace, request, op, stream);
}

/// The same scan by a strategy of the caller's choice; compiles the kernels of all of them.
template <class T, class Op>
cudaError_t scan_by(scan_strategy strategy, const scan_workspace& workspace,
                    const scan_request<T>& request, Op op, cudaStream_t stream) {
    using passes = policy_for<tuning::pass_scan<T>, T, Op>;
    if (request.items <= 0) return cudaSuccess;
    switch (strategy) {
        case scan_strategy::automatic:
            return scan(workspace, request, op, stream);
        case scan_strategy::single:
            return scan_under<policy_for<tuning::small_scan<T>, T, Op>>(workspace, request, op,
                                                                        stream);
        case scan_strategy::three_launch:
            return launch_three<passes, block::kogge_stone<most_chunks>>(
                arguments_of(request), totals_of<T>(workspace), op, stream);
        case scan_strategy::grid_barrier:
            return launch_grid_barrier<passes>(arguments_of(request), totals_of<T>(workspace), op,
                                               stream);
        case scan_strategy::lookback:
            return scan_under<policy_for<tuning::ticket_scan<T>, T, Op>>(workspace, request, op,
                                                                         stream);
        case scan_strategy::bounded:
            return scan_under<policy_for<tuning::bounded_scan<T>, T, Op>>(workspace, request, op,
                                                                          stream);
        case scan_strategy::fallback:
            return scan_under<policy_for<tuning::fallback_scan<T>, T, Op>>(workspace, request, op,
                                                                           stream);
    }
    return cudaErrorInvalidValue;
}

}  // namespace lookback::device
