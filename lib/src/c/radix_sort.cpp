#include "c/boundary.hpp"

#include <lookback/radix_sort.hpp>

#include <vector>

namespace lookback::c {
namespace {

sort_options options_of(const lookback_sort_options* options) {
    if (options == nullptr) return {};
    return {.order = {.descending = options->descending != 0, .nan_first = options->nan_first != 0},
            .begin_bit = options->begin_bit,
            .end_bit = options->end_bit};
}

std::vector<sort_key> keys_of(const char* call, const lookback_sort_key* keys,
                              std::size_t key_count, std::size_t n) {
    require_pointer(call, "keys", keys, key_count);
    require_size(call, key_count, sizeof(lookback_sort_key));
    std::vector<sort_key> result;
    for (const lookback_sort_key& key : std::span(keys, key_count)) {
        const bool strings = key.string_bytes != 0;
        const data_type type = strings ? data_type::u8 : checked_type(call, key.type);
        const std::string name = "keys[" + std::to_string(result.size()) + "].data";
        require_pointer(call, name.c_str(), key.data, n);
        require_size(call, n, strings ? key.string_bytes : size_of(type));
        result.push_back(
            {.data = key.data,
             .type = type,
             .string_bytes = key.string_bytes,
             .order = {.descending = key.descending != 0, .nan_first = key.nan_first != 0}});
    }
    return result;
}

}  // namespace
}  // namespace lookback::c

using namespace lookback;

lookback_status lookback_sort(lookback_context* context, lookback_type type, void* keys, size_t n,
                              const lookback_sort_options* options) {
    static constexpr const char* call = "lookback_sort";
    return c::guarded([&] {
        const auto& where = c::context_of(call, context);
        c::with_type(c::checked_type(call, type), [&](auto item) {
            sort(where, c::items<decltype(item)>(call, "keys", keys, n), c::options_of(options));
        });
    });
}

lookback_status lookback_sort_pairs(lookback_context* context, lookback_type type, void* keys,
                                    void* values, size_t value_bytes, size_t n,
                                    const lookback_sort_options* options) {
    static constexpr const char* call = "lookback_sort_pairs";
    return c::guarded([&] {
        const auto& where = c::context_of(call, context);
        c::require_pointer(call, "values", values, n);
        c::require_size(call, n, value_bytes);
        c::with_type(c::checked_type(call, type), [&](auto item) {
            sort_pairs(where, c::items<decltype(item)>(call, "keys", keys, n), values, value_bytes,
                       c::options_of(options));
        });
    });
}

lookback_status lookback_argsort(lookback_context* context, lookback_type type, const void* keys,
                                 int64_t* index, size_t n, const lookback_sort_options* options) {
    static constexpr const char* call = "lookback_argsort";
    return c::guarded([&] {
        const auto& where = c::context_of(call, context);
        const auto order = c::items<std::int64_t>(call, "index", index, n);
        c::with_type(c::checked_type(call, type), [&](auto item) {
            argsort(where, c::items<decltype(item)>(call, "keys", keys, n), order,
                    c::options_of(options));
        });
    });
}

lookback_status lookback_argsort_keys(lookback_context* context, const lookback_sort_key* keys,
                                      size_t key_count, int64_t* index, size_t n) {
    static constexpr const char* call = "lookback_argsort_keys";
    return c::guarded([&] {
        const auto& where = c::context_of(call, context);
        const std::vector<sort_key> columns = c::keys_of(call, keys, key_count, n);
        argsort(where, std::span<const sort_key>(columns),
                c::items<std::int64_t>(call, "index", index, n));
    });
}

lookback_status lookback_argsort_segments(lookback_context* context, const lookback_sort_key* keys,
                                          size_t key_count, const int64_t* offsets, size_t segments,
                                          int64_t* index, size_t n) {
    static constexpr const char* call = "lookback_argsort_segments";
    return c::guarded([&] {
        const auto& where = c::context_of(call, context);
        const std::vector<sort_key> columns = c::keys_of(call, keys, key_count, n);
        if (segments == SIZE_MAX) c::refuse(std::string(call) + ": segments + 1 overflows");
        argsort_segments(where, std::span<const sort_key>(columns),
                         c::items<std::int64_t>(call, "offsets", offsets, segments + 1),
                         c::items<std::int64_t>(call, "index", index, n));
    });
}

lookback_status lookback_gather(lookback_context* context, const void* in, size_t in_items,
                                size_t item_bytes, const int64_t* index, size_t n, void* out) {
    static constexpr const char* call = "lookback_gather";
    return c::guarded([&] {
        const auto& where = c::context_of(call, context);
        c::require_pointer(call, "in", in, in_items);
        c::require_pointer(call, "out", out, n);
        c::require_size(call, in_items, item_bytes);
        c::require_size(call, n, item_bytes);
        gather(where, in, in_items, item_bytes, c::items<std::int64_t>(call, "index", index, n),
               out);
    });
}

lookback_status lookback_sort_memory(const lookback_context* context, size_t n, size_t key_bytes,
                                     size_t* bytes) {
    static constexpr const char* call = "lookback_sort_memory";
    return c::guarded([&] {
        c::require_pointer(call, "bytes", bytes);
        *bytes = sort_memory(c::context_of(call, context), n, key_bytes);
    });
}

lookback_status lookback_sort_pairs_memory(const lookback_context* context, size_t n,
                                           size_t key_bytes, size_t value_bytes, size_t* bytes) {
    static constexpr const char* call = "lookback_sort_pairs_memory";
    return c::guarded([&] {
        c::require_pointer(call, "bytes", bytes);
        *bytes = sort_pairs_memory(c::context_of(call, context), n, key_bytes, value_bytes);
    });
}

lookback_status lookback_argsort_memory(const lookback_context* context, size_t n, size_t* bytes) {
    static constexpr const char* call = "lookback_argsort_memory";
    return c::guarded([&] {
        c::require_pointer(call, "bytes", bytes);
        *bytes = argsort_memory(c::context_of(call, context), n);
    });
}
