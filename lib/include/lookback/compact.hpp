// Public API: stable compaction: the rows that pass, in their order, and where they were.
// Invariant: rows keep their bits and input order; nothing behind the last row that passes is
// written.
// Source: Merrill and Garland (2016), 5: selection in a single pass by decoupled look-back.
#pragma once

#include <lookback/context.hpp>
#include <lookback/radix_sort.hpp>
#include <lookback/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace lookback {

/// item OP value. NaN fails all but not_equal; -0.0 equals +0.0.
enum class comparison : std::uint8_t { less, less_equal, equal, not_equal, greater_equal, greater };

/// Which of `rows` rows pass: flags in memory, or computed where they are needed.
struct row_flags {
    enum class source : std::uint8_t { bytes, bits, computed };
    /// Overwrites words[0 .. (rows + 63) / 64) with the flags of rows [first, first + rows): bit
    /// i % 64 of word i / 64 is row first + i, bits behind the last row are 0. `first` is a
    /// multiple of 64. Called from several threads at once.
    using marker = std::function<void(std::size_t first, std::size_t rows, std::uint64_t* words)>;

    source from = source::bytes;
    const void* data = nullptr;
    std::size_t rows = 0;
    bool inverted = false;  ///< rows whose flag is 0 pass
    marker mark;

    /// One byte a row; all but 0 pass.
    static row_flags bytes(std::span<const std::uint8_t> flags) {
        return {source::bytes, flags.data(), flags.size(), false, {}};
    }
    /// One bit a row, as marker says; what stands behind the last row is ignored.
    static row_flags bits(std::span<const std::uint64_t> words, std::size_t rows) {
        return {source::bits, words.data(), rows, false, {}};
    }
    /// For a CPU context.
    static row_flags computed(std::size_t rows, marker mark) {
        return {source::computed, nullptr, rows, false, std::move(mark)};
    }
    row_flags operator!() const {
        row_flags other = *this;
        other.inverted = !inverted;
        return other;
    }
};

/// Rows of a fixed size that move together with those of other columns.
struct moved_rows {
    const void* in = nullptr;   ///< flags.rows rows
    std::size_t row_bytes = 0;  ///< any size above 0
    void* kept = nullptr;       ///< the rows that pass; null = they are not wanted
    void* rest = nullptr;       ///< the rows that do not; null = they are not wanted
};

/// How many rows the outputs have room for.
struct compact_room {
    static constexpr std::size_t ample = ~std::size_t{0};
    std::size_t kept = ample;
    std::size_t rest = ample;
};

/// The number of rows that pass. Traffic: the flags, read once. Extra memory: as compact().
std::size_t count_rows(const context& context, const row_flags& flags);

/// Moves the rows that pass to `kept` of their column and those that do not to `rest`, both in
/// input order (a stable partition, where both are wanted). Returns the number of rows that pass.
///
/// Shapes: every column has flags.rows rows. Aliasing: kept may be in itself; any other overlap
/// throws. Traffic: flags and rows read once, kept and rest written once. Determinism: the same
/// bytes from any number of threads, and from both backends. Stream: a CUDA context waits for the
/// number of rows. Extra memory on the CPU: about 256 KiB a thread, and 64 bytes for 256 KiB of
/// rows. On CUDA: none for one column of rows of 1, 2, 4, 8 or 16 bytes that are aligned to their
/// size; else rows / 8 + rows / 256 bytes and, for rows of another size in place, what they keep.
/// Throws error{invalid_argument} for a row size of 0, overlap, memory that is not the context's,
/// and too little room: then the outputs hold the first rows, and the message says how many there
/// are.
std::size_t compact(const context& context, const row_flags& flags,
                    std::span<const moved_rows> columns, const compact_room& room = {});

/// out = the numbers of the rows that pass, ascending. Index is int64 or uint32 (rows <= 2^32).
template <class Index>
std::size_t compact_indices(const context& context, const row_flags& flags, std::span<Index> out);

/// out = the items with `item op value`, in order; returns their number. out may be in itself; any
/// other overlap throws. All else as compact().
template <arithmetic_item T>
std::size_t compact_if(const context& context, std::span<const T> in, comparison op, T value,
                       std::span<T> out);

/// out = the first item of each run of equal neighbours, in order; returns their number. -0.0
/// equals +0.0 and NaN equals NaN. out may be in itself. All else as compact().
template <arithmetic_item T>
std::size_t unique(const context& context, std::span<const T> in, std::span<T> out);

/// The same for rows: those pass that differ from the one before them in any key, under the order
/// of argsort() with these keys. Extra memory besides: one byte a row.
std::size_t unique_by_key(const context& context, std::span<const sort_key> keys, std::size_t rows,
                          std::span<const moved_rows> columns, const compact_room& room = {});

/// The staged form: flags, offsets and the moved rows as arrays of their own, for teaching and for
/// comparison. It reads and writes several times as much as the functions above.
///
/// flags[i] = in[i] op value, as 0 or 1.
template <arithmetic_item T>
void mark_flags(const context& context, std::span<const T> in, comparison op, T value,
                std::span<std::uint8_t> flags);
/// offsets[i] = the number of flags before i that are not 0; returns the number of all.
std::size_t compact_offsets(const context& context, std::span<const std::uint8_t> flags,
                            std::span<std::int64_t> offsets);
/// out[offsets[i]] = in[i] for each i whose flag is not 0, rows of row_bytes bytes. Nothing
/// overlaps.
void scatter_flagged(const context& context, std::span<const std::uint8_t> flags,
                     std::span<const std::int64_t> offsets, const void* in, std::size_t row_bytes,
                     void* out, std::size_t out_rows);

}  // namespace lookback
