// CPU backend, compiled once a SIMD target: keys turned into numbers, and numbers into places of
// buckets, lane by lane.
// Invariant: each lane is what float_mapping, integer_mapping and key_segments say.
#if defined(LOOKBACK_KEY_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_KEY_LANES_INL
#undef LOOKBACK_KEY_LANES_INL
#else
#define LOOKBACK_KEY_LANES_INL
#endif

#include "cpu/key_mapping.hpp"
#include "cpu/key_segments.hpp"

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The mapping's to(), lane by lane, as bits.
template <class D>
HWY_INLINE hn::Vec<D> number_bits(D d, const integer_mapping<hn::TFromD<D>>& mapping,
                                  hn::Vec<D> bits) {
    return hn::Xor(bits, hn::Set(d, mapping.mask));
}
template <class D>
HWY_INLINE hn::Vec<D> number_bits(D d, const float_mapping<hn::TFromD<D>>& mapping,
                                  hn::Vec<D> bits) {
    using bits_type = hn::TFromD<D>;
    const hn::RebindToSigned<D> ds;
    const auto negative = hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(ds, bits)));
    const auto others = hn::Set(d, static_cast<bits_type>(~top_bit<bits_type>));
    const auto same = hn::Set(d, static_cast<bits_type>(top_bit<bits_type> ^ mapping.flip));
    return hn::Xor3(bits, hn::And(negative, others), same);
}

/// Zeros and NaNs.
template <class D>
HWY_INLINE hn::Mask<D> is_special(D d, hn::Vec<D> bits) {
    using bits_type = hn::TFromD<D>;
    // Without the sign, and one less, so that zeros come behind NaNs.
    constexpr auto infinity =
        static_cast<bits_type>(2 * core::float_order<bits_type>::infinity - 1);
    return hn::Gt(hn::Sub(hn::Add(bits, bits), hn::Set(d, bits_type{1})), hn::Set(d, infinity));
}

/// The table of segments, looked up by lanes.
class segment_lookup {
public:
    explicit segment_lookup(const key_segments& segments) : entries_(segments.entries.data()) {
#if HWY_TARGET == HWY_AVX3
        for (std::size_t i = 0; i < 4; ++i) rows_[i] = _mm512_load_si512(entries_ + 16 * i);
#endif
    }

    /// The bucket of each place, in the lowest 16 bits of its lane; the others have no meaning.
    template <class D>
    HWY_INLINE hn::Vec<D> bucket(D d, hn::Vec<D> place) const {
#if HWY_TARGET == HWY_SCALAR
        const auto one = static_cast<std::uint32_t>(hn::GetLane(place));
        const std::uint32_t entry = entries_[key_segments::segment(one)];
        return hn::Set(d, static_cast<hn::TFromD<D>>(key_segments::bucket(entry, one)));
#else
        // A place has fewer than 32 bits; what stands above it looks up the first entry in vain.
        const hn::Repartition<std::uint32_t, D> words;
        const auto word = hn::BitCast(words, place);
        const auto entry = look_up(words, hn::ShiftRight<key_segments::place_bits>(word));
#if HWY_TARGET == HWY_AVX3
        const hn::Repartition<std::uint16_t, D> halves;
        const auto part =
            hn::BitCast(words, hn::MulHigh(hn::BitCast(halves, word), hn::BitCast(halves, entry)));
#else
        const auto low_half = hn::Set(words, 0xffff);
        const auto part = hn::ShiftRight<key_segments::place_bits>(
            hn::Mul(hn::And(word, low_half), hn::And(entry, low_half)));
#endif
        return hn::BitCast(d, hn::Add(part, hn::ShiftRight<16>(entry)));
#endif
    }

private:
#if HWY_TARGET == HWY_AVX3
    template <class DW>
    HWY_INLINE hn::Vec<DW> look_up(DW /*words*/, hn::Vec<DW> segment) const {
        const auto upper = _mm512_test_epi32_mask(segment.raw, _mm512_set1_epi32(32));
        const __m512i low = _mm512_permutex2var_epi32(rows_[0], segment.raw, rows_[1]);
        const __m512i high = _mm512_permutex2var_epi32(rows_[2], segment.raw, rows_[3]);
        return hn::Vec<DW>{_mm512_mask_blend_epi32(upper, low, high)};
    }

    __m512i rows_[4];
#elif HWY_TARGET != HWY_SCALAR
    template <class DW>
    HWY_INLINE hn::Vec<DW> look_up(DW words, hn::Vec<DW> segment) const {
        return hn::GatherIndex(words, entries_, hn::BitCast(hn::RebindToSigned<DW>(), segment));
    }
#endif

    const std::uint32_t* entries_;
};

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
