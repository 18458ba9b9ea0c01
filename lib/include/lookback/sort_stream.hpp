// Public API: keys sorted on their way from a source to a sink, without an array of them all.
// Invariant: what sort() would give, in about half its memory; on the CPU reading overlaps the
// first pass and writing the last, on CUDA both overlap copies.
#pragma once

#include <lookback/context.hpp>
#include <lookback/radix_sort.hpp>
#include <lookback/types.hpp>

#include <cstddef>
#include <functional>

namespace lookback {

/// Keys that come and go in ranges. The functions are called from several threads at once, for
/// ranges of one kind that never overlap; what they throw ends the sort and is thrown on.
struct key_stream {
    data_type type = data_type::u8;
    sort_order order;
    std::size_t size = 0;  ///< in keys, as all that follow
    /// The source's block: reads of whole ones, at multiples of it, waste nothing.
    std::size_t block = 1;

    using reader = std::function<void(std::size_t first, std::size_t count, void* into)>;
    /// Gives keys [first, first + count). Every key is read once, or twice where sort_stream() says
    /// false and the caller reads them all.
    reader read = {};
    /// The same for a few short ranges, before anything else: the sample.
    reader peek = {};
    /// Takes the sorted keys [first, first + count); the memory is the caller's until it returns.
    /// It may wait for lower ranges: the thread that has the lowest one is never waiting itself.
    std::function<void(std::size_t first, std::size_t count, const void* keys)> write = {};
};

/// Sorts the stream's keys, as sort() would. False, with nothing written, where the keys had better
/// be sorted as an array: too few, of one or two bytes, sorted already, of few values, or a few
/// values' neighbours hold too many of them.
///
/// On CUDA always true: keys are read into pinned memory piece by piece and copied while others are
/// read; the sorted ones come back the same way, and nothing is peeked at.
///
/// Determinism: the same keys in the same places from every thread count and backend; the ranges of
/// the calls differ. Extra memory: sort_stream_memory() and sort_stream_host_memory(). Throws
/// error{invalid_argument} for a function that is not there.
bool sort_stream(const context& context, const key_stream& stream);

/// Upper bound in bytes of what sort_stream() allocates from the context's memory.
std::size_t sort_stream_memory(const context& context, std::size_t n, std::size_t key_bytes,
                               std::size_t block);
/// Of what it takes besides: pinned host memory on CUDA, nothing on the CPU.
std::size_t sort_stream_host_memory(const context& context, std::size_t key_bytes,
                                    std::size_t block);

}  // namespace lookback
