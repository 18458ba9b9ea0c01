/* Public C API: contexts, scans, sorts and compaction of arrays whose element type is given at run
 * time. Invariant: no exception leaves a call; 0 is success, and the text of a failure stays in its
 * thread. Compiles as C99 and as C++. What a call does in detail is told in scan.hpp,
 * radix_sort.hpp and compact.hpp. */
#ifndef LOOKBACK_LOOKBACK_H
#define LOOKBACK_LOOKBACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What every call returns; the numbers are fixed. */
typedef int32_t lookback_status;
enum {
    LOOKBACK_OK = 0,
    LOOKBACK_INVALID_ARGUMENT = 1,
    LOOKBACK_OUT_OF_MEMORY = 2,
    LOOKBACK_BACKEND_ERROR = 3,
    LOOKBACK_IO_ERROR = 4
};

/** Element types; f16 is an IEEE 754 binary16 as its bits: it sorts, but has no arithmetic. */
typedef int32_t lookback_type;
enum {
    LOOKBACK_I8 = 0,
    LOOKBACK_I16 = 1,
    LOOKBACK_I32 = 2,
    LOOKBACK_I64 = 3,
    LOOKBACK_U8 = 4,
    LOOKBACK_U16 = 5,
    LOOKBACK_U32 = 6,
    LOOKBACK_U64 = 7,
    LOOKBACK_F16 = 8,
    LOOKBACK_F32 = 9,
    LOOKBACK_F64 = 10
};

typedef int32_t lookback_backend;
enum { LOOKBACK_AUTOMATIC = 0, LOOKBACK_CPU = 1, LOOKBACK_CUDA = 2 };

/** op(earlier, later); bit operators are for integers only. */
typedef int32_t lookback_operator;
enum {
    LOOKBACK_PLUS = 0,
    LOOKBACK_MULTIPLIES = 1,
    LOOKBACK_MINIMUM = 2,
    LOOKBACK_MAXIMUM = 3,
    LOOKBACK_BIT_AND = 4,
    LOOKBACK_BIT_OR = 5,
    LOOKBACK_BIT_XOR = 6
};

/** Where work runs. Used by one thread at a time; several contexts run side by side. */
typedef struct lookback_context lookback_context;

/** Null in a call, or all zero, stands for: from the identity, float sums in any order. */
typedef struct lookback_scan_options {
    const void* init;     /**< null, or one item combined before the first */
    int32_t reproducible; /**< not 0: float sums and products have the same bits in every run */
    const char* strategy; /**< null, or a name that h5scan --strategy takes; for CUDA contexts */
} lookback_scan_options;

/** Null in a call, or all zero, stands for: ascending, NaNs last, all bits. */
typedef struct lookback_sort_options {
    int32_t descending;
    int32_t nan_first; /**< NaNs stand first, whatever the direction */
    int32_t begin_bit; /**< keys equal in [begin_bit, end_bit) are equal; end_bit 0 = all bits */
    int32_t end_bit;
} lookback_sort_options;

/** One of several sort keys of n items. */
typedef struct lookback_sort_key {
    const void* data;
    lookback_type type;  /**< ignored where string_bytes is not 0 */
    size_t string_bytes; /**< not 0: fixed strings of so many bytes, compared by bytes */
    int32_t descending;
    int32_t nan_first;
} lookback_sort_key;

/** "major.minor.patch" of the library that is linked. */
const char* lookback_version(void);

/** Text of this thread's last call that failed: what, where, what to do. "" before the first;
 * valid until the thread's next failure. */
const char* lookback_last_error(void);

/** Makes a context; threads 0 = every core that this process may use. On failure *context is null.
 */
lookback_status lookback_context_create(lookback_context** context, lookback_backend backend,
                                        int32_t threads);
/** Ends a context; null is allowed. Memory taken from it must have been given back. */
void lookback_context_destroy(lookback_context* context);
/** LOOKBACK_CPU or LOOKBACK_CUDA, whichever the context chose. */
lookback_status lookback_context_backend(const lookback_context* context,
                                         lookback_backend* backend);
lookback_status lookback_context_threads(const lookback_context* context, int32_t* threads);

/** Memory that the context's backend reads and writes fastest: huge pages on the CPU. Aligned to at
 * least 64 bytes, uninitialised; 0 bytes give null. */
lookback_status lookback_allocate(lookback_context* context, size_t bytes, void** block);
/** Gives memory back, with the size that it was taken with; null is allowed. */
lookback_status lookback_deallocate(lookback_context* context, void* block, size_t bytes);

/** out[i] = init op in[0] op ... op in[i], n items of `type` (any but f16). out may be in itself;
 * any other overlap is LOOKBACK_INVALID_ARGUMENT. */
lookback_status lookback_inclusive_scan(lookback_context* context, lookback_type type,
                                        lookback_operator op, const void* in, void* out, size_t n,
                                        const lookback_scan_options* options);
/** out[i] = init op in[0] op ... op in[i - 1]; all else as lookback_inclusive_scan. */
lookback_status lookback_exclusive_scan(lookback_context* context, lookback_type type,
                                        lookback_operator op, const void* in, void* out, size_t n,
                                        const lookback_scan_options* options);

/** Sorts n keys in place, stably: -0.0 equals +0.0, all NaNs are equal, bits are kept. */
lookback_status lookback_sort(lookback_context* context, lookback_type type, void* keys, size_t n,
                              const lookback_sort_options* options);
/** The same, and moves n values of value_bytes (1, 2, 4, 8 or 16) with their keys. */
lookback_status lookback_sort_pairs(lookback_context* context, lookback_type type, void* keys,
                                    void* values, size_t value_bytes, size_t n,
                                    const lookback_sort_options* options);
/** index[0], index[1], ...: the positions of the n keys in their stable order. */
lookback_status lookback_argsort(lookback_context* context, lookback_type type, const void* keys,
                                 int64_t* index, size_t n, const lookback_sort_options* options);
/** The stable order by keys[0], then keys[1] among equals, and so on, of n items each. */
lookback_status lookback_argsort_keys(lookback_context* context, const lookback_sort_key* keys,
                                      size_t key_count, int64_t* index, size_t n);
/** The same inside each segment [offsets[s], offsets[s + 1]) alone. offsets has segments + 1 items,
 * starts at 0, does not decrease and ends at n. */
lookback_status lookback_argsort_segments(lookback_context* context, const lookback_sort_key* keys,
                                          size_t key_count, const int64_t* offsets, size_t segments,
                                          int64_t* index, size_t n);
/** out[i] = in[index[i]] for n items of item_bytes; in and out do not overlap. */
lookback_status lookback_gather(lookback_context* context, const void* in, size_t in_items,
                                size_t item_bytes, const int64_t* index, size_t n, void* out);

/** item OP value; NaN fails all but not-equal. */
typedef int32_t lookback_comparison;
enum {
    LOOKBACK_LESS = 0,
    LOOKBACK_LESS_EQUAL = 1,
    LOOKBACK_EQUAL = 2,
    LOOKBACK_NOT_EQUAL = 3,
    LOOKBACK_GREATER_EQUAL = 4,
    LOOKBACK_GREATER = 5
};

/** out = the items (any type but f16) with `item op *value`, in order; *kept = their number. out
 * has room for `room` items and may be in itself; where it is too small it holds the first ones,
 * and the call is LOOKBACK_INVALID_ARGUMENT. */
lookback_status lookback_compact_if(lookback_context* context, lookback_type type,
                                    lookback_comparison op, const void* value, const void* in,
                                    size_t n, void* out, size_t room, size_t* kept);
/** out = the first item of each run of equal neighbours; all else as lookback_compact_if. */
lookback_status lookback_unique(lookback_context* context, lookback_type type, const void* in,
                                size_t n, void* out, size_t room, size_t* kept);
/** kept_rows = the rows whose flag is not 0, rest_rows = the others, in order, rows of row_bytes;
 * each has room for all that belong there; null = not wanted. kept_rows may be in itself. */
lookback_status lookback_compact_rows(lookback_context* context, const uint8_t* flags, size_t rows,
                                      const void* in, size_t row_bytes, void* kept_rows,
                                      void* rest_rows, size_t* kept);
/** index = the numbers of the rows whose flag is not 0, ascending. */
lookback_status lookback_compact_indices(lookback_context* context, const uint8_t* flags,
                                         size_t rows, int64_t* index, size_t room, size_t* kept);

/** *bytes = upper bound of what the sort of n items takes from the context's memory; argsort: with
 * any number of keys or segments. */
lookback_status lookback_sort_memory(const lookback_context* context, size_t n, size_t key_bytes,
                                     size_t* bytes);
lookback_status lookback_sort_pairs_memory(const lookback_context* context, size_t n,
                                           size_t key_bytes, size_t value_bytes, size_t* bytes);
lookback_status lookback_argsort_memory(const lookback_context* context, size_t n, size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif
