/* From C: the order of a table's rows by two columns, and what a refused call leaves. */
#include <lookback/lookback.h>

#include <stdio.h>

int main(void) {
    const uint8_t months[] = {2, 1, 2, 1};
    const float delays[] = {5.0F, 12.5F, -3.0F, 40.0F};
    const lookback_sort_key keys[] = {{.data = months, .type = LOOKBACK_U8},
                                      {.data = delays, .type = LOOKBACK_F32, .descending = 1}};
    int64_t order[4];
    lookback_context* context = NULL;
    if (lookback_context_create(&context, LOOKBACK_CPU, 0) != LOOKBACK_OK ||
        lookback_argsort_keys(context, keys, 2, order, 4) != LOOKBACK_OK) {
        fprintf(stderr, "%s\n", lookback_last_error());
        return 1;
    }
    for (int row = 0; row < 4; ++row) printf("%d ", (int)order[row]); /* 3 1 0 2 */
    if (lookback_sort(context, LOOKBACK_F32, NULL, 4, NULL) != LOOKBACK_OK) {
        printf("\n%s\n", lookback_last_error()); /* lookback_sort: keys is null */
    }
    lookback_context_destroy(context);
    return 0;
}
