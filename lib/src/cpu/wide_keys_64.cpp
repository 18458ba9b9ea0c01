// CPU backend: sort_wide_keys() and sort_wide_stream() of 64-bit keys.
#include "cpu/vector_targets.hpp"
#include "cpu/wide_keys.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/wide_keys_64.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once more for each target.
#include "cpu/key_shortcuts-inl.hpp"
#include "cpu/stream_keys-inl.hpp"
#include "cpu/wide_keys-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {
void sort_integers_64(executor& executor, memory_resource& memory, std::span<std::uint64_t> keys,
                      const integer_mapping<std::uint64_t>& mapping) {
    if (finish_without_sorting(executor, mapping, keys)) return;
    wide_sort<integer_mapping<std::uint64_t>>(executor, memory, mapping).sort(keys, 0);
}
void sort_floats_64(executor& executor, memory_resource& memory, std::span<std::uint64_t> keys,
                    const float_mapping<std::uint64_t>& mapping) {
    if (finish_without_sorting(executor, mapping, keys)) return;
    wide_sort<float_mapping<std::uint64_t>>(executor, memory, mapping).sort(keys, 0);
}
bool stream_integers_64(executor& executor, memory_resource& memory, const key_stream& stream,
                        const integer_mapping<std::uint64_t>& mapping) {
    return stream_sort<integer_mapping<std::uint64_t>>(executor, memory, mapping, stream).sort();
}
bool stream_floats_64(executor& executor, memory_resource& memory, const key_stream& stream,
                      const float_mapping<std::uint64_t>& mapping) {
    return stream_sort<float_mapping<std::uint64_t>>(executor, memory, mapping, stream).sort();
}
}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::cpu {

HWY_EXPORT(sort_integers_64);
HWY_EXPORT(sort_floats_64);
HWY_EXPORT(stream_integers_64);
HWY_EXPORT(stream_floats_64);

void sort_wide_keys(executor& executor, memory_resource& memory, std::span<std::uint64_t> keys,
                    const integer_mapping<std::uint64_t>& mapping) {
    HWY_DYNAMIC_DISPATCH(sort_integers_64)(executor, memory, keys, mapping);
}

void sort_wide_keys(executor& executor, memory_resource& memory, std::span<std::uint64_t> keys,
                    const float_mapping<std::uint64_t>& mapping) {
    HWY_DYNAMIC_DISPATCH(sort_floats_64)(executor, memory, keys, mapping);
}

bool sort_wide_stream(executor& executor, memory_resource& memory, const key_stream& stream,
                      const integer_mapping<std::uint64_t>& mapping) {
    return HWY_DYNAMIC_DISPATCH(stream_integers_64)(executor, memory, stream, mapping);
}

bool sort_wide_stream(executor& executor, memory_resource& memory, const key_stream& stream,
                      const float_mapping<std::uint64_t>& mapping) {
    return HWY_DYNAMIC_DISPATCH(stream_floats_64)(executor, memory, stream, mapping);
}

}  // namespace lookback::cpu
#endif
