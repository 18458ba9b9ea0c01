// Public API: scan and reduction of each segment of an array by itself; segments by CSR offsets.
// Invariant: the time depends on the items and the number of segments, not on their lengths.
// Source: Blelloch (1990); look-back that stops at a head: Merrill, Garland (2016).
#pragma once

#include <lookback/scan.hpp>

#include <cstdint>
#include <span>

namespace lookback {

/// out[i] = init op in[begin] op ... op in[i] for each i of each segment [begin, end). Returns the
/// strategy that does it, never automatic; there is one of its own, so that of `options` is
/// ignored.
///
/// Shapes: in and out have n items; offsets has segments + 1 items: the first is 0, none is less
/// than the one before it, the last is n. Segment s is [offsets[s], offsets[s + 1]); it may be
/// empty. Aliasing: out may be in itself; any other overlap of in, out and offsets throws. Traffic:
/// each item and offset read once or twice, each item written once. Determinism: as
/// inclusive_scan(); reproducible sums and products of reals follow the tree over the whole array,
/// cut at the heads, and init joins each result last. Stream: the context's, but on CUDA it waits
/// for the check of the offsets before it starts. Extra memory on the CPU: 64 bytes for 256 KiB of
/// items and 32 KiB a thread; on CUDA 40 bytes at most for 16 KiB of items. Throws
/// error{invalid_argument} as inclusive_scan() does, and for offsets that break the rule, naming
/// the first one.
template <arithmetic_item T>
scan_strategy segmented_inclusive_scan(const context& context, std::span<const T> in,
                                       std::span<const std::int64_t> offsets, std::span<T> out,
                                       const scan_options<T>& options = {});

/// out[i] = init op in[begin] op ... op in[i - 1]; all else as segmented_inclusive_scan().
template <arithmetic_item T>
scan_strategy segmented_exclusive_scan(const context& context, std::span<const T> in,
                                       std::span<const std::int64_t> offsets, std::span<T> out,
                                       const scan_options<T>& options = {});

/// out[s] = init op in[offsets[s]] op ... op in[offsets[s + 1] - 1]. An empty segment gives init,
/// or what an exclusive scan without init starts with. out has one item a segment and overlaps
/// nothing; extra memory on the CPU: 64 bytes for 256 KiB of items and 288 KiB a thread; all else
/// as segmented_inclusive_scan().
template <arithmetic_item T>
scan_strategy segmented_reduce(const context& context, std::span<const T> in,
                               std::span<const std::int64_t> offsets, std::span<T> out,
                               const scan_options<T>& options = {});

}  // namespace lookback
