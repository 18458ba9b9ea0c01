/* A client of the C API, compiled as C99: each function returns null, or what went wrong. */
#include <lookback/lookback.h>

#include <stdlib.h>
#include <string.h>

enum { count = 1000 };

const char* c_client_sorts_and_scans(void);
const char* c_client_orders_by_two_keys(void);
const char* c_client_reads_errors(void);

static lookback_context* make_context(void) {
    lookback_context* context = NULL;
    return lookback_context_create(&context, LOOKBACK_CPU, 2) == LOOKBACK_OK ? context : NULL;
}

/* Keys 0 .. count - 1, each once, in another order: 7 has no factor in common with 1000. */
static const char* sort_and_scan(lookback_context* context, uint32_t* keys, uint32_t* sums) {
    const uint32_t init = 5;
    const lookback_scan_options with_init = {.init = &init};
    const lookback_sort_options descending = {.descending = 1};
    for (uint32_t i = 0; i < count; ++i) keys[i] = i * 7 % count;
    if (lookback_sort(context, LOOKBACK_U32, keys, count, NULL) != LOOKBACK_OK) return "sort";
    for (uint32_t i = 0; i < count; ++i) {
        if (keys[i] != i) return "sort: order";
    }
    if (lookback_inclusive_scan(context, LOOKBACK_U32, LOOKBACK_PLUS, keys, sums, count, NULL) !=
        LOOKBACK_OK) {
        return "inclusive scan";
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (sums[i] != i * (i + 1) / 2) return "inclusive scan: sums";
    }
    if (lookback_exclusive_scan(context, LOOKBACK_U32, LOOKBACK_PLUS, keys, sums, count,
                                &with_init) != LOOKBACK_OK) {
        return "exclusive scan";
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (sums[i] != 5 + i * (i - 1) / 2) return "exclusive scan: sums";
    }
    if (lookback_sort(context, LOOKBACK_U32, keys, count, &descending) != LOOKBACK_OK) {
        return "descending sort";
    }
    return keys[0] == count - 1 && keys[count - 1] == 0 ? NULL : "descending sort: order";
}

const char* c_client_sorts_and_scans(void) {
    void* keys = NULL;
    void* sums = NULL;
    const char* wrong = "context or memory";
    lookback_context* context = make_context();
    if (context != NULL &&
        lookback_allocate(context, count * sizeof(uint32_t), &keys) == LOOKBACK_OK &&
        lookback_allocate(context, count * sizeof(uint32_t), &sums) == LOOKBACK_OK) {
        wrong = sort_and_scan(context, keys, sums);
    }
    if (context != NULL) {
        lookback_deallocate(context, keys, count * sizeof(uint32_t));
        lookback_deallocate(context, sums, count * sizeof(uint32_t));
    }
    lookback_context_destroy(context);
    return wrong;
}

const char* c_client_orders_by_two_keys(void) {
    const char names[] = "bbaabbaa"; /* bb aa bb aa */
    const int16_t years[] = {3, 1, 4, 2};
    const lookback_sort_key keys[] = {{.data = names, .string_bytes = 2},
                                      {.data = years, .type = LOOKBACK_I16, .descending = 1}};
    const int64_t expected[] = {3, 1, 2, 0};
    const int64_t offsets[] = {0, 1, 4};
    const int64_t expected_segments[] = {0, 3, 1, 2};
    int16_t gathered[4] = {0};
    int64_t index[4] = {0};
    const char* wrong = NULL;
    lookback_context* context = make_context();
    if (lookback_argsort_keys(context, keys, 2, index, 4) != LOOKBACK_OK ||
        memcmp(index, expected, sizeof index) != 0) {
        wrong = "argsort by two keys";
    } else if (lookback_gather(context, years, 4, sizeof years[0], index, 4, gathered) !=
                   LOOKBACK_OK ||
               gathered[0] != 2 || gathered[3] != 3) {
        wrong = "gather";
    } else if (lookback_argsort_segments(context, keys, 2, offsets, 2, index, 4) != LOOKBACK_OK ||
               memcmp(index, expected_segments, sizeof index) != 0) {
        wrong = "argsort of segments";
    }
    lookback_context_destroy(context);
    return wrong;
}

const char* c_client_reads_errors(void) {
    int32_t keys[2] = {2, 1};
    const char* wrong = NULL;
    lookback_context* context = make_context();
    if (lookback_sort(context, 99, keys, 2, NULL) != LOOKBACK_INVALID_ARGUMENT) {
        wrong = "an unknown type was accepted";
    } else if (strstr(lookback_last_error(), "99") == NULL) {
        wrong = lookback_last_error();
    } else if (keys[0] != 2) {
        wrong = "a refused call changed its data";
    }
    lookback_context_destroy(context);
    return wrong;
}
