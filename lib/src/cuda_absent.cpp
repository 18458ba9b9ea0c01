// The CUDA backend's answers in a build without CUDA.
#include "cuda/backend.hpp"
#include "item_list.hpp"

#include <lookback/error.hpp>

namespace lookback::cuda {
namespace {

[[noreturn]] void refuse() {
    throw error(error_kind::backend_error, "cuda: " + unusable_reason());
}

}  // namespace

std::string unusable_reason() {
    return "this build has no CUDA backend";
}

std::unique_ptr<device> open_device() {
    refuse();
}

// Never reached: no device can be opened. The API layer links against these all the same.
template <arithmetic_item T>
scan_strategy scan(device& /*device*/, const T* /*in*/, T* /*out*/, std::size_t /*items*/,
                   bool /*exclusive*/, const scan_options<T>& /*options*/) {
    refuse();
}

offset_facts look_at_offsets(device& /*device*/, const char* /*name*/,
                             const std::int64_t* /*offsets*/, std::size_t /*count*/) {
    refuse();
}

template <arithmetic_item T>
scan_strategy segmented_scan(device& /*device*/, const segmented_arrays<T>& /*arrays*/,
                             bool /*exclusive*/, const scan_options<T>& /*options*/) {
    refuse();
}

template <arithmetic_item T>
scan_strategy segmented_reduce(device& /*device*/, const segmented_arrays<T>& /*arrays*/,
                               T /*empty*/, const scan_options<T>& /*options*/) {
    refuse();
}

// NOLINTBEGIN(bugprone-macro-parentheses): T is a type.
#define LOOKBACK_SCANNABLE(T)                                                                      \
    template scan_strategy scan(device&, const T*, T*, std::size_t, bool, const scan_options<T>&); \
    template scan_strategy segmented_scan(device&, const segmented_arrays<T>&, bool,               \
                                          const scan_options<T>&);                                 \
    template scan_strategy segmented_reduce(device&, const segmented_arrays<T>&, T,                \
                                            const scan_options<T>&)

// NOLINTEND(bugprone-macro-parentheses)
LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_SCANNABLE);
#undef LOOKBACK_SCANNABLE

void sort_keys(device& /*device*/, memory_resource& /*memory*/, void* /*keys*/, data_type /*type*/,
               std::size_t /*n*/, const sort_options& /*options*/) {
    refuse();
}
void sort_pairs(device& /*device*/, memory_resource& /*memory*/, void* /*keys*/, data_type /*type*/,
                std::size_t /*n*/, const sort_options& /*options*/, void* /*values*/,
                std::size_t /*value_bytes*/) {
    refuse();
}
template <class Index>
void argsort(device& /*device*/, memory_resource& /*memory*/, const void* /*keys*/,
             data_type /*type*/, const sort_options& /*options*/, std::span<Index> /*index*/) {
    refuse();
}
template <class Index>
void argsort(device& /*device*/, memory_resource& /*memory*/, std::span<const sort_key> /*keys*/,
             std::span<const std::int64_t> /*offsets*/, std::span<Index> /*index*/) {
    refuse();
}
template <class Index>
std::size_t first_outside(device& /*device*/, std::span<const Index> /*index*/,
                          std::size_t /*rows*/) {
    refuse();
}
template <class Index>
void gather(device& /*device*/, const void* /*in*/, std::size_t /*item_bytes*/,
            std::span<const Index> /*index*/, void* /*out*/) {
    refuse();
}
void sort_key_stream(device& /*device*/, memory_resource& /*memory*/, const key_stream& /*stream*/,
                     int /*threads*/) {
    refuse();
}
std::size_t sort_key_stream_host_memory(std::size_t /*key_bytes*/, std::size_t /*block*/,
                                        int /*threads*/) {
    return 0;
}
std::size_t sort_keys_memory(std::size_t /*n*/, std::size_t /*key_bytes*/) {
    refuse();
}
std::size_t sort_pairs_memory(std::size_t /*n*/, std::size_t /*key_bytes*/,
                              std::size_t /*value_bytes*/) {
    refuse();
}
std::size_t argsort_memory(std::size_t /*n*/) {
    refuse();
}
std::size_t count_rows(device& /*device*/, const row_flags& /*flags*/) {
    refuse();
}
std::size_t compact(device& /*device*/, memory_resource& /*memory*/, const row_flags& /*flags*/,
                    std::span<const moved_rows> /*columns*/, const compact_room& /*room*/) {
    refuse();
}
template <class Index>
std::size_t compact_indices(device& /*device*/, const row_flags& /*flags*/,
                            std::span<Index> /*out*/) {
    refuse();
}
std::size_t compact_if(device& /*device*/, const typed_items& /*items*/, comparison /*op*/,
                       const void* /*value*/, void* /*out*/, std::size_t /*room*/) {
    refuse();
}
std::size_t unique(device& /*device*/, const typed_items& /*items*/, void* /*out*/,
                   std::size_t /*room*/) {
    refuse();
}
void mark_flags(device& /*device*/, const typed_items& /*items*/, comparison /*op*/,
                const void* /*value*/, std::uint8_t* /*flags*/) {
    refuse();
}
void mark_heads(device& /*device*/, std::span<const sort_key> /*keys*/,
                std::span<std::uint8_t> /*flags*/) {
    refuse();
}
std::size_t compact_offsets(device& /*device*/, std::span<const std::uint8_t> /*flags*/,
                            std::span<std::int64_t> /*offsets*/) {
    refuse();
}
std::size_t first_outside(device& /*device*/, std::span<const std::uint8_t> /*flags*/,
                          const std::int64_t* /*offsets*/, std::size_t /*out_rows*/) {
    refuse();
}
void scatter_flagged(device& /*device*/, std::span<const std::uint8_t> /*flags*/,
                     const std::int64_t* /*offsets*/, const void* /*in*/, std::size_t /*row_bytes*/,
                     void* /*out*/) {
    refuse();
}
void mark_rows(device& /*device*/, memory_resource& /*memory*/, const row_stream& /*stream*/) {
    refuse();
}
mark_rows_bytes mark_rows_memory(const row_condition& /*condition*/, std::size_t /*batch_rows*/) {
    return {};
}
#define LOOKBACK_INDEX(Index)                                                                     \
    template void argsort(device&, memory_resource&, const void*, data_type, const sort_options&, \
                          std::span<Index>);                                                      \
    template void argsort(device&, memory_resource&, std::span<const sort_key>,                   \
                          std::span<const std::int64_t>, std::span<Index>);                       \
    template std::size_t first_outside(device&, std::span<const Index>, std::size_t);             \
    template void gather(device&, const void*, std::size_t, std::span<const Index>, void*);       \
    template std::size_t compact_indices(device&, const row_flags&, std::span<Index>)
LOOKBACK_INDEX(std::uint32_t);
LOOKBACK_INDEX(std::int64_t);
#undef LOOKBACK_INDEX

}  // namespace lookback::cuda
