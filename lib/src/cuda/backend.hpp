// What the API layer may ask of the CUDA backend. Plain C++: no CUDA header.
// Implemented in cuda/, or by cuda_absent.cpp where CUDA is not built.
#pragma once

#include <lookback/compact.hpp>
#include <lookback/context.hpp>
#include <lookback/radix_sort.hpp>
#include <lookback/row_stream.hpp>
#include <lookback/scan.hpp>
#include <lookback/sort_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lookback::cuda {

/// Empty where a GPU can be used; otherwise why not, in one line.
std::string unusable_reason();

/// The device, stream and memory of a context.
class device {
public:
    virtual ~device() = default;
    virtual memory_resource& memory() = 0;
    /// Waits until everything that was asked of the stream is done.
    virtual void synchronize() = 0;
    /// Copies between host and device memory, either way, and waits.
    virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
    /// The cudaStream_t.
    virtual void* stream() = 0;
    /// Bytes that memory() can still give.
    virtual std::size_t free_bytes() = 0;
};

/// Throws error{backend_error} where unusable_reason() is not empty.
std::unique_ptr<device> open_device();

/// out[i] = init op in[0] op ... op in[i] (exclusive: up to in[i - 1]) on the device's stream. The
/// caller has checked sizes, overlap and operator; throws error{invalid_argument} for memory that
/// is not the device's. Returns the strategy that runs, never automatic.
template <arithmetic_item T>
scan_strategy scan(device& device, const T* in, T* out, std::size_t items, bool exclusive,
                   const scan_options<T>& options);

/// Device arrays of a segmented scan: `items` items, cut by segments + 1 offsets.
template <arithmetic_item T>
struct segmented_arrays {
    const T* in;
    T* out;
    std::size_t items;
    const std::int64_t* offsets;
    std::size_t segments;
};

/// What a check of offsets needs to know of them.
struct offset_facts {
    std::int64_t first;
    std::int64_t last;
    std::size_t decrease;  ///< the first that is less than the one before it, or their number
    std::int64_t before;   ///< the one before it
    std::int64_t less;     ///< that one
};

/// Waits for the device. Throws error{invalid_argument} for offsets that are not its memory, which
/// it calls `name`. count >= 1.
offset_facts look_at_offsets(device& device, const char* name, const std::int64_t* offsets,
                             std::size_t count);

/// As the public functions, on the device's stream; the caller has checked sizes, overlap, offsets
/// and operator. Throws error{invalid_argument} for memory that is not the device's. Returns the
/// strategy that runs.
template <arithmetic_item T>
scan_strategy segmented_scan(device& device, const segmented_arrays<T>& arrays, bool exclusive,
                             const scan_options<T>& options);

/// `empty` is what an empty segment gives; out has one item a segment.
template <arithmetic_item T>
scan_strategy segmented_reduce(device& device, const segmented_arrays<T>& arrays, T empty,
                               const scan_options<T>& options);

/// The sorts of the API on the device's stream, for arguments that the caller has checked but for
/// the memory they lie in: error{invalid_argument} where it is not the device's. Temporary memory
/// comes from `memory`. `options` has end_bit filled in.
void sort_keys(device& device, memory_resource& memory, void* keys, data_type type, std::size_t n,
               const sort_options& options);
void sort_pairs(device& device, memory_resource& memory, void* keys, data_type type, std::size_t n,
                const sort_options& options, void* values, std::size_t value_bytes);
/// By bits [begin_bit, end_bit) of one key.
template <class Index>
void argsort(device& device, memory_resource& memory, const void* keys, data_type type,
             const sort_options& options, std::span<Index> index);
/// By several keys; with `offsets` (segments + 1, in the device's memory) inside each segment.
template <class Index>
void argsort(device& device, memory_resource& memory, std::span<const sort_key> keys,
             std::span<const std::int64_t> offsets, std::span<Index> index);
/// The first position whose index is outside [0, rows), or index.size(). Waits.
template <class Index>
std::size_t first_outside(device& device, std::span<const Index> index, std::size_t rows);
template <class Index>
void gather(device& device, const void* in, std::size_t item_bytes, std::span<const Index> index,
            void* out);
/// As lookback::sort_stream(), on so many threads of the host.
void sort_key_stream(device& device, memory_resource& memory, const key_stream& stream,
                     int threads);
/// Pinned host memory that it takes, at most.
std::size_t sort_key_stream_host_memory(std::size_t key_bytes, std::size_t block, int threads);
/// At most what these take from `memory`.
std::size_t sort_keys_memory(std::size_t n, std::size_t key_bytes);
std::size_t sort_pairs_memory(std::size_t n, std::size_t key_bytes, std::size_t value_bytes);
std::size_t argsort_memory(std::size_t n);

/// The compactions of the API on the device's stream, for arguments that the caller has checked but
/// for the memory they lie in: error{invalid_argument} where it is not the device's. Each waits for
/// the number of rows that pass, and returns it, whatever the room. Flags are bytes or bits.
std::size_t count_rows(device& device, const row_flags& flags);
/// Columns that do not move alone, and rows of other sizes than 1, 2, 4, 8 or 16 bytes, take
/// (rows / 8 + rows / 256) bytes of `memory`; the latter in place also what they keep.
std::size_t compact(device& device, memory_resource& memory, const row_flags& flags,
                    std::span<const moved_rows> columns, const compact_room& room);
template <class Index>
std::size_t compact_indices(device& device, const row_flags& flags, std::span<Index> out);

/// Items of an arithmetic type.
struct typed_items {
    const void* in;
    data_type type;
    std::size_t items;
};
std::size_t compact_if(device& device, const typed_items& items, comparison op, const void* value,
                       void* out, std::size_t room);
std::size_t unique(device& device, const typed_items& items, void* out, std::size_t room);
void mark_flags(device& device, const typed_items& items, comparison op, const void* value,
                std::uint8_t* flags);
/// flags[i] = whether row i differs from the one before it in any key; that of row 0 is 1.
void mark_heads(device& device, std::span<const sort_key> keys, std::span<std::uint8_t> flags);
std::size_t compact_offsets(device& device, std::span<const std::uint8_t> flags,
                            std::span<std::int64_t> offsets);
/// The first flagged row whose offset is outside [0, out_rows), or their number. Waits.
std::size_t first_outside(device& device, std::span<const std::uint8_t> flags,
                          const std::int64_t* offsets, std::size_t out_rows);
void scatter_flagged(device& device, std::span<const std::uint8_t> flags,
                     const std::int64_t* offsets, const void* in, std::size_t row_bytes, void* out);

/// As lookback::mark_rows(), for a condition that the caller has checked.
void mark_rows(device& device, memory_resource& memory, const row_stream& stream);
struct mark_rows_bytes {
    std::size_t device;  ///< from the memory resource, and the workspace
    std::size_t host;    ///< pinned
};
mark_rows_bytes mark_rows_memory(const row_condition& condition, std::size_t batch_rows);

}  // namespace lookback::cuda
