// CPU backend, compiled once a SIMD target: the sample from which a sort of keys is planned.
// Invariant: it depends on the keys and the level alone, so every run makes the same plan.
#if defined(LOOKBACK_KEY_SAMPLE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_KEY_SAMPLE_INL
#undef LOOKBACK_KEY_SAMPLE_INL
#else
#define LOOKBACK_KEY_SAMPLE_INL
#endif

#include "cpu/key_mapping.hpp"
#include "cpu/vector_sort-inl.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

/// The numbers of some keys, sorted; without those of zeros and NaNs.
template <class Mapping>
std::vector<typename Mapping::number> sorted_numbers(
    const Mapping& mapping, std::span<const typename Mapping::bits_type> keys) {
    std::vector<typename Mapping::number> numbers;
    numbers.reserve(keys.size());
    for (const auto bits : keys) {
        if constexpr (Mapping::has_specials) {
            if (Mapping::is_zero(bits) || Mapping::is_nan(bits)) continue;
        }
        numbers.push_back(mapping.to(bits));
    }
    std::vector<typename Mapping::number> spare(numbers.size() + 64);
    sort_in_cache(hn::ScalableTag<typename Mapping::number>(), numbers.data(), spare.data(),
                  numbers.size());
    return numbers;
}

/// Sorted numbers from places spread over the input; empty where only zeros and NaNs were met.
template <class Mapping>
std::vector<typename Mapping::number> take_sample(const Mapping& mapping,
                                                  std::span<const typename Mapping::bits_type> keys,
                                                  std::uint64_t level) {
    const std::size_t count = std::clamp<std::size_t>(keys.size() / 256, 1024, 16384);
    std::vector<typename Mapping::bits_type> picked(count);
    std::uint64_t random = level * 0x9e3779b97f4a7c15U + count;
    const std::size_t stride = keys.size() / count;
    for (std::size_t i = 0; i < count; ++i) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        picked[i] = keys[i * stride + ((random >> 33) * stride >> 31)];
    }
    return sorted_numbers<Mapping>(mapping, picked);
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
