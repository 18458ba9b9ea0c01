// CPU backend, compiled once a SIMD target: the operators of kernels/core on vectors, and the scan
// inside one vector. Invariant: vector(a, b) has in each lane the bits of scalar(a, b).
#if defined(LOOKBACK_LANE_OPERATORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_LANE_OPERATORS_INL
#undef LOOKBACK_LANE_OPERATORS_INL
#else
#define LOOKBACK_LANE_OPERATORS_INL
#endif

#include <lookback/kernels/core/operators.hpp>
#include <lookback/scan.hpp>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
using lane_of = hn::LaneType<V>;

struct lane_plus {
    using scalar = core::plus;
    static constexpr bool zero_is_identity = true;  // for integers
    template <class V>
    HWY_INLINE V operator()(V earlier, V later) const {
        return hn::Add(earlier, later);
    }
};

struct lane_multiplies {
    using scalar = core::multiplies;
    static constexpr bool zero_is_identity = false;
    template <class V>
    HWY_INLINE V operator()(V earlier, V later) const {
#if HWY_TARGET == HWY_SCALAR
        const scalar op;
        return hn::Set(hn::DFromV<V>(), op(hn::GetLane(earlier), hn::GetLane(later)));
#else
        if constexpr (sizeof(lane_of<V>) == 1) {
            // No set has byte products: even and odd bytes by 16-bit ones.
            const hn::DFromV<V> d;
            const hn::RepartitionToWide<decltype(d)> wide;
            const auto a = hn::BitCast(wide, earlier);
            const auto b = hn::BitCast(wide, later);
            const auto low = hn::Set(wide, 0x00ff);
            const auto high = hn::Set(wide, 0xff00);
            const auto even = hn::And(hn::Mul(a, b), low);
            const auto odd = hn::Mul(hn::ShiftRight<8>(a), hn::And(b, high));
            return hn::BitCast(d, hn::Or(even, odd));
        } else {
            return hn::Mul(earlier, later);
        }
#endif
    }
};

struct lane_minimum {
    using scalar = core::minimum;
    static constexpr bool zero_is_identity = false;
    template <class V>
    HWY_INLINE V operator()(V earlier, V later) const {
        if constexpr (hwy::IsFloat<lane_of<V>>()) {
            // The first of equals and the first NaN, which hardware minima do not give.
            const auto keep = hn::Or(hn::Le(earlier, later), hn::IsNaN(earlier));
            return hn::IfThenElse(keep, earlier, later);
        } else {
            return hn::Min(earlier, later);
        }
    }
};

struct lane_maximum {
    using scalar = core::maximum;
    static constexpr bool zero_is_identity = false;
    template <class V>
    HWY_INLINE V operator()(V earlier, V later) const {
        if constexpr (hwy::IsFloat<lane_of<V>>()) {
            const auto keep = hn::Or(hn::Ge(earlier, later), hn::IsNaN(earlier));
            return hn::IfThenElse(keep, earlier, later);
        } else {
            return hn::Max(earlier, later);
        }
    }
};

struct lane_bit_and {
    using scalar = core::bit_and;
    static constexpr bool zero_is_identity = false;
    template <class V>
    HWY_INLINE V operator()(V earlier, V later) const {
        return hn::And(earlier, later);
    }
};

struct lane_bit_or {
    using scalar = core::bit_or;
    static constexpr bool zero_is_identity = true;
    template <class V>
    HWY_INLINE V operator()(V earlier, V later) const {
        return hn::Or(earlier, later);
    }
};

struct lane_bit_xor {
    using scalar = core::bit_xor;
    static constexpr bool zero_is_identity = true;
    template <class V>
    HWY_INLINE V operator()(V earlier, V later) const {
        return hn::Xor(earlier, later);
    }
};

/// make(Op) for the operator of this name. Operators whose bits do not depend on the sign exist for
/// unsigned types alone.
template <class T, class Make>
auto choose_operator(scan_operator op, const Make& make) {
    if (op == scan_operator::minimum) return make(lane_minimum());
    if constexpr (!std::is_signed_v<T> || hwy::IsFloat<T>()) {
        if (op == scan_operator::plus) return make(lane_plus());
        if (op == scan_operator::multiplies) return make(lane_multiplies());
    }
    if constexpr (!std::is_signed_v<T>) {
        if (op == scan_operator::bit_and) return make(lane_bit_and());
        if (op == scan_operator::bit_or) return make(lane_bit_or());
        if (op == scan_operator::bit_xor) return make(lane_bit_xor());
    }
    return make(lane_maximum());
}

#if HWY_TARGET == HWY_SCALAR

// The portable target has vectors of one lane.
template <class D, class V>
HWY_INLINE V last_lane(D /*d*/, V v) {
    return v;
}
template <class Op, class D, class V>
HWY_INLINE V scan_vector(Op /*op*/, D /*d*/, V v) {
    return v;
}

#else

template <class T>
inline constexpr std::size_t block_lanes = 16 / sizeof(T);

/// Lanes whose number inside a group of `group` (a power of two) lanes is >= first.
template <class D>
HWY_INLINE auto lanes_from(D d, std::size_t first, std::size_t group) {
    const hn::RebindToSigned<D> ds;
    using S = hn::TFromD<decltype(ds)>;
    const auto number = hn::And(hn::Iota(ds, S{0}), hn::Set(ds, static_cast<S>(group - 1)));
    return hn::RebindMask(d, hn::Gt(number, hn::Set(ds, static_cast<S>(first - 1))));
}

/// Every lane gets lane `Lane` of its group of `Group` lanes; Group is at least a block.
template <std::size_t Lane, std::size_t Group, class D, class V>
HWY_INLINE V spread(D d, V v) {
    using T = hn::TFromD<D>;
    if constexpr (Group == block_lanes<T>) {
        const hn::Repartition<std::uint8_t, D> d8;
        alignas(64) std::uint8_t bytes[64];
        for (std::size_t i = 0; i < 64; ++i) {
            bytes[i] = static_cast<std::uint8_t>(Lane * sizeof(T) + i % sizeof(T));
        }
        return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, v), hn::Load(d8, bytes)));
    } else if constexpr (sizeof(T) >= 4) {
        using Index = hwy::MakeSigned<T>;
        alignas(64) Index lanes[64 / sizeof(T)];
        for (std::size_t i = 0; i < 64 / sizeof(T); ++i) {
            lanes[i] = static_cast<Index>((i / Group * Group + Lane) % hn::MaxLanes(d));
        }
        return hn::TableLookupLanes(v, hn::SetTableIndices(d, lanes));
    } else {
        // Moves the 4 bytes around the lane, then spreads the lane inside them.
        constexpr std::size_t ratio = 4 / sizeof(T);
        const hn::Repartition<std::uint32_t, D> d32;
        const auto moved =
            hn::BitCast(d, spread<Lane / ratio, Group / ratio>(d32, hn::BitCast(d32, v)));
        return spread<Lane % ratio, block_lanes<T>>(d, moved);
    }
}

/// The last lane in all lanes.
template <class D, class V>
HWY_INLINE V last_lane(D d, V v) {
    return spread<hn::MaxLanes(d) - 1, hn::MaxLanes(d)>(d, v);
}

template <std::size_t Step, class Op, class D, class V>
HWY_INLINE V scan_in_blocks(Op op, D d, V v) {
    using T = hn::TFromD<D>;
    if constexpr (Step < block_lanes<T>) {
        const V combined = op(hn::ShiftLeftLanes<Step>(d, v), v);
        if constexpr (Op::zero_is_identity && !hwy::IsFloat<T>()) {
            return scan_in_blocks<2 * Step>(op, d, combined);
        } else {
            const auto has_earlier = lanes_from(d, Step, block_lanes<T>);
            return scan_in_blocks<2 * Step>(op, d, hn::IfThenElse(has_earlier, combined, v));
        }
    } else {
        return v;
    }
}

/// Doubles scanned groups of `Half` lanes until they fill the vector.
template <std::size_t Half, class Op, class D, class V>
HWY_INLINE V join_groups(Op op, D d, V v) {
    if constexpr (Half < hn::MaxLanes(d)) {
        const V combined = op(spread<Half - 1, 2 * Half>(d, v), v);
        const auto upper = lanes_from(d, Half, 2 * Half);
        return join_groups<2 * Half>(op, d, hn::IfThenElse(upper, combined, v));
    } else {
        return v;
    }
}

/// Inclusive scan of the lanes of one vector: log2(lanes) steps, each lane's own order kept.
template <class Op, class D, class V>
HWY_INLINE V scan_vector(Op op, D d, V v) {
    return join_groups<block_lanes<hn::TFromD<D>>>(op, d, scan_in_blocks<1>(op, d, v));
}

#endif

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
