// CPU backend, compiled once a SIMD target: the loop behind segmented_lanes.hpp.
// Invariant: a head bit travels with the lanes exactly as its value does, one machine word for all
// lanes; a lane takes what precedes it only while no head lies between.
#if defined(LOOKBACK_SEGMENTED_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_SEGMENTED_LANES_INL
#undef LOOKBACK_SEGMENTED_LANES_INL
#else
#define LOOKBACK_SEGMENTED_LANES_INL
#endif

#include "cpu/lane_operators-inl.hpp"
#include "cpu/segmented_lanes.hpp"

#include <cstdint>

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

/// Bits [position, position + 64) of a bitmap.
HWY_INLINE std::uint64_t bits_at(const std::uint64_t* bitmap, std::size_t position) {
    const std::size_t word = position / 64;
    const std::size_t bit = position % 64;
    // Two shifts, because one by 64 bits is undefined.
    return bitmap[word] >> bit | bitmap[word + 1] << 1 << (63 - bit);
}

template <class D>
HWY_INLINE hn::Mask<D> mask_of(D d, std::uint64_t bits) {
    std::uint8_t bytes[8];
    hwy::CopyBytes<8>(&bits, bytes);
    return hn::LoadMaskBits(d, bytes);
}

/// Bits whose number inside a group of `group` bits is >= first.
constexpr std::uint64_t bits_from(std::size_t first, std::size_t group) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 64; ++i) {
        if (i % group >= first) bits |= std::uint64_t{1} << i;
    }
    return bits;
}

#if HWY_TARGET == HWY_SCALAR

template <class Op, class D, class V>
HWY_INLINE V scan_segments(Op /*op*/, D /*d*/, V v, std::uint64_t& /*heads*/) {
    return v;
}

#else

template <std::size_t Step, class Op, class D, class V>
HWY_INLINE V segments_in_blocks(Op op, D d, V v, std::uint64_t& heads) {
    constexpr std::size_t block = block_lanes<hn::TFromD<D>>;
    if constexpr (Step < block) {
        constexpr std::uint64_t reached = bits_from(Step, block);
        const V combined = op(hn::ShiftLeftLanes<Step>(d, v), v);
        v = hn::IfThenElse(mask_of(d, ~heads & reached), combined, v);
        heads |= heads << Step & reached;
        return segments_in_blocks<2 * Step>(op, d, v, heads);
    } else {
        return v;
    }
}

template <std::size_t Half, class Op, class D, class V>
HWY_INLINE V join_segments(Op op, D d, V v, std::uint64_t& heads) {
    if constexpr (Half < hn::MaxLanes(d)) {
        constexpr std::uint64_t upper = bits_from(Half, 2 * Half);
        constexpr std::uint64_t first = ~bits_from(1, 2 * Half);
        constexpr std::uint64_t group = ~std::uint64_t{0} >> (64 - 2 * Half);
        const V combined = op(spread<Half - 1, 2 * Half>(d, v), v);
        v = hn::IfThenElse(mask_of(d, ~heads & upper), combined, v);
        // The last bit of each lower half, copied to all of its upper half.
        heads |= (heads >> (Half - 1) & first) * group & upper;
        return join_segments<2 * Half>(op, d, v, heads);
    } else {
        return v;
    }
}

/// Inclusive scan of each segment inside one vector. Afterwards bit i of heads tells whether lane i
/// has a head at or before it.
template <class Op, class D, class V>
HWY_INLINE V scan_segments(Op op, D d, V v, std::uint64_t& heads) {
    v = segments_in_blocks<1>(op, d, v, heads);
    return join_segments<block_lanes<hn::TFromD<D>>>(op, d, v, heads);
}

#endif

/// As scan_items(): exclusive results are the inclusive ones, stored one item further on, except
/// that a head there gets `start`.
template <class Op, class T>
T segmented_items(const T* in, T* out, std::size_t n, const std::uint64_t* heads,
                  const segmented_manner<T>& manner) {
    const Op op;
    const typename Op::scalar scalar;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::uint64_t all = lanes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
    const auto [before, start, exclusive, stream] = manner;
    const std::size_t shift = exclusive ? 1 : 0;
    T running = before;
    std::size_t i = 0;
    const auto is_head = [heads](std::size_t item)
                             HWY_ATTR { return (heads[item / 64] >> item % 64 & 1) != 0; };
    const auto one_item = [&](T item) HWY_ATTR {
        if (is_head(i)) running = start;
        const T result = scalar(running, item);
        out[i] = exclusive ? running : result;
        running = result;
        ++i;
    };
    if (n >= 4 * lanes) {
        const std::size_t vector_bytes = lanes * sizeof(T);
        while (reinterpret_cast<std::uintptr_t>(out + i + shift) % vector_bytes != 0) {
            one_item(in[i]);
        }
        const auto begin = hn::Set(d, start);
        auto carry = hn::Set(d, running);
        auto next = hn::LoadU(d, in + i);
        if (exclusive) out[i] = is_head(i) ? start : running;
        for (; i + 2 * lanes + shift <= n; i += lanes) {
            std::uint64_t marks = bits_at(heads, i) & all;
            const auto items = next;
            next = hn::LoadU(d, in + i + lanes);
            auto result = items;
            if (marks == 0) {
                result = op(carry, scan_vector(op, d, items));
            } else {
                const auto scanned = scan_segments(op, d, items, marks);
                result = op(hn::IfThenElse(mask_of(d, marks), begin, carry), scanned);
            }
            carry = last_lane(d, result);
            auto stored = result;
            if (exclusive) {
                const std::uint64_t follow = bits_at(heads, i + 1) & all;
                stored = hn::IfThenElse(mask_of(d, follow), begin, result);
            }
            if (stream) {
                hn::Stream(stored, d, out + i + shift);
            } else {
                hn::Store(stored, d, out + i + shift);
            }
        }
        running = hn::GetLane(carry);
        if (stream) hwy::FlushStream();
        // In place the shifted stores have overwritten in[i]; `next` still holds it.
        one_item(hn::GetLane(next));
    }
    // NOLINTNEXTLINE(bugprone-infinite-loop): one_item() counts i
    while (i < n) one_item(in[i]);
    return running;
}

template <class T>
struct make_segmented_scan {
    template <class Op>
    segmented_scan_function<T> operator()(Op /*op*/) const {
        return &segmented_items<Op, T>;
    }
};

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
