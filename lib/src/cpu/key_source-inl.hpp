// CPU backend, compiled once a SIMD target: the source of the first pass over keys.
// Invariant: every key goes to the bucket that key_classes names for its number; zeros and NaNs go
// to two buckets behind the last.
#if defined(LOOKBACK_KEY_SOURCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_KEY_SOURCE_INL
#undef LOOKBACK_KEY_SOURCE_INL
#else
#define LOOKBACK_KEY_SOURCE_INL
#endif

#include "cpu/key_classes.hpp"
#include "cpu/radix_partition.hpp"
#include "cpu/vector_targets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

/// Reads keys, turns them into numbers and gathers what the plan of the second step needs.
template <class Mapping>
class key_source {
public:
    using bits_type = typename Mapping::bits_type;
    using number = typename Mapping::number;

    key_source(const bits_type* keys, const Mapping& mapping, const key_classes<bits_type>& classes)
        : keys_(keys), mapping_(mapping), classes_(&classes) {}

    void load(std::size_t first, std::size_t count, number* items, std::uint16_t* bucket) {
        if (count == partition_batch) {
            load_some(keys_ + first, partition_batch, items, bucket);
        } else {
            load_some(keys_ + first, count, items, bucket);
        }
        if (!classes_->splits.empty()) look_up(items, bucket, count);
    }

    // Over all numbers that are sorted; low > high where there are none.
    number low = std::numeric_limits<number>::max();
    number high = std::numeric_limits<number>::min();
    bits_type differing = 0;  ///< bits in which some number differs from the base

private:
    // From cells to buckets.
    HWY_INLINE void look_up(const number* HWY_RESTRICT items, std::uint16_t* HWY_RESTRICT bucket,
                            std::size_t count) const {
        const cell_split* const splits = classes_->splits.data();
        const std::uint16_t* const table = classes_->table.data();
        const key_classes<bits_type>& classes = *classes_;
        for (std::size_t i = 0; i < count; ++i) {
            const cell_split split = splits[bucket[i]];
            const auto sub = static_cast<std::uint32_t>(classes.above(items[i]) >> split.shift);
            bucket[i] = table[split.offset + (sub & split.mask)];
        }
    }

    HWY_INLINE void load_some(const bits_type* HWY_RESTRICT keys, std::size_t count,
                              number* HWY_RESTRICT items, std::uint16_t* HWY_RESTRICT bucket) {
        const number base = classes_->base;
        const int shift = classes_->shift;
        const bits_type last = classes_->last_cell;
        number least = low;
        number most = high;
        bits_type differ = differing;
        for (std::size_t i = 0; i < count; ++i) {
            const bits_type bits = keys[i];
            number value = mapping_.to(bits);
            items[i] = value;
            bits_type extra = 0;
            if constexpr (Mapping::has_specials) {
                const bool zero = Mapping::is_zero(bits);
                const bool nan = Mapping::is_nan(bits);
                extra = static_cast<bits_type>(zero ? 1 : nan ? 2 : 0);
                value = zero || nan ? base : value;
            }
            const auto above = static_cast<bits_type>(
                static_cast<bits_type>(std::max(value, base)) - static_cast<bits_type>(base));
            const auto cell = std::min(static_cast<bits_type>(above >> shift), last);
            bucket[i] = static_cast<std::uint16_t>(extra != 0 ? last + extra : cell);
            // The base itself is a number of the sample, so it may count where a special was.
            least = std::min(least, value);
            most = std::max(most, value);
            differ = static_cast<bits_type>(
                differ | (static_cast<bits_type>(value) ^ static_cast<bits_type>(base)));
        }
        low = least;
        high = most;
        differing = differ;
    }

    const bits_type* keys_;
    Mapping mapping_;
    const key_classes<bits_type>* classes_;
};

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
