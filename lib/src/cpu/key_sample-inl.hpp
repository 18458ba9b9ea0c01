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

/// Sorted numbers from places spread over the input; empty where only zeros and NaNs were met.
template <class Mapping>
std::vector<typename Mapping::number> take_sample(const Mapping& mapping,
                                                  std::span<const typename Mapping::bits_type> keys,
                                                  std::uint64_t level) {
    const std::size_t count = std::clamp<std::size_t>(keys.size() / 256, 1024, 16384);
    std::vector<typename Mapping::number> sample;
    sample.reserve(count);
    std::uint64_t random = level * 0x9e3779b97f4a7c15U + count;
    const std::size_t stride = keys.size() / count;
    for (std::size_t i = 0; i < count; ++i) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        const auto bits = keys[i * stride + ((random >> 33) * stride >> 31)];
        if constexpr (Mapping::has_specials) {
            if (Mapping::is_zero(bits) || Mapping::is_nan(bits)) continue;
        }
        sample.push_back(mapping.to(bits));
    }
    std::vector<typename Mapping::number> spare(sample.size() + 64);
    sort_in_cache(hn::ScalableTag<typename Mapping::number>(), sample.data(), spare.data(),
                  sample.size());
    return sample;
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
