// CPU backend, compiled once a SIMD target: the source of the first pass over keys.
// Invariant: every key is counted in the window, or goes to the bucket that key_classes names for
// its number; zeros and NaNs go to two buckets behind the last.
#if defined(LOOKBACK_KEY_SOURCE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_KEY_SOURCE_INL
#undef LOOKBACK_KEY_SOURCE_INL
#else
#define LOOKBACK_KEY_SOURCE_INL
#endif

#include "cpu/key_classes.hpp"
#include "cpu/key_lanes-inl.hpp"
#include "cpu/key_window.hpp"
#include "cpu/radix_partition.hpp"
#include "cpu/vector_sort-inl.hpp"

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

    /// counters: window.counters() zeros.
    key_source(const bits_type* keys, const Mapping& mapping, const key_classes<bits_type>& classes,
               const key_window<bits_type>& window, std::uint32_t* counters)
        : keys_(keys),
          mapping_(mapping),
          classes_(&classes),
          window_(window),
          counters_(counters) {}

    /// Returns how many of the keys are items: those that were not counted.
    std::size_t load(std::size_t first, std::size_t count, number* items, std::uint16_t* bucket) {
        return load_from(keys_ + first, count, items, bucket);
    }

    /// The same for keys that stand elsewhere.
    std::size_t load_from(const bits_type* keys, std::size_t count, number* items,
                          std::uint16_t* bucket) {
        alignas(64) bits_type kept[partition_batch + batch_slack];
        if (window_.size != 0) {
            count = count_in_window(keys, count, kept);
            keys = kept;
        }
        if (classes_->segments.used) {
            if (count != 0) load_by_segments(keys, count, items, bucket);
            return count;
        }
        if (classes_->gap != 0) {
            load_some<true>(keys, count, items, bucket);
        } else if (count == partition_batch) {
            load_some<false>(keys, partition_batch, items, bucket);
        } else {
            load_some<false>(keys, count, items, bucket);
        }
        if (!classes_->splits.empty()) {
            look_up_twice(items, bucket, count);
        } else if (!classes_->table.empty()) {
            const std::uint16_t* const table = classes_->table.data();
            for (std::size_t i = 0; i < count; ++i) bucket[i] = table[bucket[i]];
        }
        return count;
    }

    // Over all numbers that are sorted; low > high where there are none.
    number low = std::numeric_limits<number>::max();
    number high = std::numeric_limits<number>::min();
    bits_type differing = 0;  ///< bits in which some number differs from the base

private:
    // Whole vectors are written behind the last key of a batch.
    static constexpr std::size_t batch_slack = 64;

    // Counts the keys of a batch that are in the window and copies the others; says how many.
    HWY_INLINE std::size_t count_in_window(const bits_type* HWY_RESTRICT keys, std::size_t count,
                                           bits_type* HWY_RESTRICT kept) {
        alignas(64) bits_type above[partition_batch + batch_slack];
        alignas(64) bits_type inside[partition_batch + batch_slack];
        const auto lowest = static_cast<bits_type>(window_.low);
        for (std::size_t i = 0; i < count; ++i) {
            above[i] =
                static_cast<bits_type>(static_cast<bits_type>(mapping_.to(keys[i])) - lowest);
        }
        const std::size_t left = keep_outside(keys, above, count, kept, inside);
        const std::size_t counted = count - left;
        // Equal neighbours add to different counters where there are some to use in turn.
        const std::size_t turn = window_.copies == 1 ? 0 : static_cast<std::size_t>(window_.size);
        std::uint32_t* const counters = counters_;
        std::size_t i = 0;
        for (; i + 4 <= counted; i += 4) {
            ++counters[inside[i]];
            ++counters[inside[i + 1] + turn];
            ++counters[inside[i + 2] + 2 * turn];
            ++counters[inside[i + 3] + 3 * turn];
        }
        for (; i < counted; ++i) ++counters[inside[i]];
        return left;
    }

    HWY_INLINE std::size_t keep_outside(const bits_type* HWY_RESTRICT keys,
                                        const bits_type* HWY_RESTRICT above, std::size_t count,
                                        bits_type* HWY_RESTRICT kept,
                                        bits_type* HWY_RESTRICT inside) const {
        const bits_type size = window_.size;
        std::size_t left = 0;
        std::size_t counted = 0;
        std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
        const hn::ScalableTag<bits_type> d;
        constexpr std::size_t lanes = lanes_of<decltype(d)>;
        const auto limit = hn::Set(d, size);
        for (; i + lanes <= count; i += lanes) {
            const auto distance = hn::Load(d, above + i);
            const auto in = hn::Lt(distance, limit);
            hn::StoreU(compress_lanes(d, hn::LoadU(d, keys + i), hn::Not(in)), d, kept + left);
            hn::StoreU(compress_lanes(d, distance, in), d, inside + counted);
            const std::size_t found = hn::CountTrue(d, in);
            counted += found;
            left += lanes - found;
        }
#endif
        for (; i < count; ++i) {
            const bool in = above[i] < size;
            kept[left] = keys[i];
            inside[counted] = above[i];
            counted += in ? 1 : 0;
            left += in ? 0 : 1;
        }
        return left;
    }

    // From cells that are cut to buckets.
    HWY_INLINE void look_up_twice(const number* HWY_RESTRICT items,
                                  std::uint16_t* HWY_RESTRICT bucket, std::size_t count) const {
        const cell_split* const splits = classes_->splits.data();
        const std::uint16_t* const table = classes_->table.data();
        const key_classes<bits_type>& classes = *classes_;
        for (std::size_t i = 0; i < count; ++i) {
            const cell_split split = splits[bucket[i]];
            const auto sub = static_cast<std::uint32_t>(classes.above(items[i]) >> split.shift);
            bucket[i] = table[split.offset + (sub & split.mask)];
        }
    }

    // Whole vectors, so the last key counts for what is behind it.
    HWY_INLINE void load_by_segments(const bits_type* HWY_RESTRICT keys, std::size_t count,
                                     number* HWY_RESTRICT items,
                                     std::uint16_t* HWY_RESTRICT bucket) {
        const hn::ScalableTag<bits_type> d;
        const hn::ScalableTag<number> dn;
        const hn::Rebind<std::uint16_t, decltype(d)> dh;
        constexpr std::size_t lanes = hn::MaxLanes(d);
        alignas(64) bits_type padded[partition_batch];
        if (count % lanes != 0) {
            std::fill(std::copy_n(keys, count, padded), std::end(padded), keys[count - 1]);
            keys = padded;
        }
        const key_segments& segments = classes_->segments;
        const auto base = hn::Set(dn, classes_->base);
        const auto behind_gap =
            hn::Set(d, static_cast<bits_type>(classes_->gap_begin + classes_->gap));
        const auto gap = hn::Set(d, classes_->gap);
        const auto range = hn::Set(d, classes_->range);
        const segment_lookup table(segments);
        auto least = hn::Set(dn, low);
        auto most = hn::Set(dn, high);
        auto differ = hn::Set(d, differing);
        auto special = hn::FirstN(d, 0);
        for (std::size_t i = 0; i < count; i += lanes) {
            const auto bits = hn::LoadU(d, keys + i);
            auto value = hn::BitCast(dn, number_bits(d, mapping_, bits));
            hn::StoreU(value, dn, items + i);
            if constexpr (Mapping::has_specials) {
                const auto found = is_special(d, bits);
                special = hn::Or(special, found);
                value = hn::IfThenElse(hn::RebindMask(dn, found), base, value);
            }
            least = hn::Min(least, value);
            most = hn::Max(most, value);
            differ = hn::Or(differ, hn::BitCast(d, hn::Xor(value, base)));
            const auto distance = hn::BitCast(d, hn::Sub(hn::Max(value, base), base));
            const auto shortened = hn::Sub(hn::Max(distance, behind_gap), gap);
            const auto above = hn::Min(hn::Min(distance, shortened), range);
            const auto named = table.bucket(d, hn::ShiftRightSame(above, segments.shift));
            hn::StoreU(hn::TruncateTo(dh, named), dh, bucket + i);
        }
        low = hn::GetLane(hn::MinOfLanes(dn, least));
        high = hn::GetLane(hn::MaxOfLanes(dn, most));
        alignas(64) bits_type words[lanes];
        hn::Store(differ, d, words);
        for (const bits_type word : words) differing = static_cast<bits_type>(differing | word);
        if constexpr (Mapping::has_specials) {
            if (!hn::AllFalse(d, special)) name_specials(keys, count, bucket);
        }
    }

    // Zeros and NaNs go behind the last bucket.
    HWY_NOINLINE void name_specials(const bits_type* keys, std::size_t count,
                                    std::uint16_t* bucket) const {
        const auto zeros = static_cast<std::uint16_t>(classes_->bucket_count());
        const auto nans = static_cast<std::uint16_t>(zeros + 1);
        for (std::size_t i = 0; i < count; ++i) {
            if (Mapping::is_zero(keys[i])) bucket[i] = zeros;
            if (Mapping::is_nan(keys[i])) bucket[i] = nans;
        }
    }

    template <bool WithGap>
    HWY_INLINE void load_some(const bits_type* HWY_RESTRICT keys, std::size_t count,
                              number* HWY_RESTRICT items, std::uint16_t* HWY_RESTRICT bucket) {
        const number base = classes_->base;
        const int shift = classes_->shift;
        const bits_type last = classes_->last_cell;
        const bits_type gap_begin = classes_->gap_begin;
        const bits_type gap = classes_->gap;
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
            auto above = static_cast<bits_type>(static_cast<bits_type>(std::max(value, base)) -
                                                static_cast<bits_type>(base));
            if constexpr (WithGap) {
                above = key_classes<bits_type>::without_gap(above, gap_begin, gap);
            }
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
    key_window<bits_type> window_;
    std::uint32_t* counters_;
};

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
