// CPU backend, compiled once a SIMD target: the loops behind scan_lanes.hpp.
// Invariant: every loop keeps the order of items for operators whose bits depend on it.
#if defined(LOOKBACK_SCAN_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_SCAN_LANES_INL
#undef LOOKBACK_SCAN_LANES_INL
#else
#define LOOKBACK_SCAN_LANES_INL
#endif

#include "cpu/lane_operators-inl.hpp"
#include "cpu/scan_lanes.hpp"

#include <cstdint>

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

/// Whether the bits of a result depend on the order of combination beyond rounding: for equal
/// zeros and for NaNs.
template <class Op, class T>
inline constexpr bool keeps_order = hwy::IsFloat<T>() && (std::is_same_v<Op, lane_minimum> ||
                                                          std::is_same_v<Op, lane_maximum>);

/// One step of a reduction that fold_end() closes. Without order each lane is a chain of its own.
template <class Op, class D, class V>
HWY_INLINE V fold(Op op, D d, V running, V items) {
    if constexpr (keeps_order<Op, hn::TFromD<D>>) items = last_lane(d, scan_vector(op, d, items));
    return op(running, items);
}

template <class Op, class D, class V>
HWY_INLINE hn::TFromD<D> fold_end(Op op, D d, V running) {
    if constexpr (keeps_order<Op, hn::TFromD<D>>) return hn::GetLane(running);
    return hn::GetLane(last_lane(d, scan_vector(op, d, running)));
}

template <class Op, class T>
T reduce_items(const T* in, std::size_t n) {
    const Op op;
    const typename Op::scalar scalar;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    T total = Op::scalar::template identity<T>();
    if (n >= lanes) {
        auto running = hn::Set(d, total);
        for (; i + lanes <= n; i += lanes) running = fold(op, d, running, hn::LoadU(d, in + i));
        total = fold_end(op, d, running);
    }
    for (; i < n; ++i) total = scalar(total, in[i]);
    return total;
}

// The loads of the hardware's own prefetching stop at each page of 4 KiB. Asking this far ahead,
// one thread scans 512 MiB of u32 in 47 ms instead of 61 (256 items ahead: 55; 4096: 47).
constexpr std::size_t prefetch_bytes = 4096;

template <class T>
HWY_INLINE void prefetch(const T* items) {
#if HWY_TARGET != HWY_SCALAR
    __builtin_prefetch(items + prefetch_bytes / sizeof(T), 0, 2);
#else
    static_cast<void>(items);
#endif
}

/// An exclusive scan is the inclusive one stored one item further on, so that one loop does both.
/// In place that store reaches one item of the next vector: each vector is loaded before the one
/// before it is stored.
template <class Op, class T>
T scan_items(const T* in, T* out, std::size_t n, T before, const scan_manner<T>& manner) {
    const Op op;
    const typename Op::scalar scalar;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const auto [exclusive, stream, ahead] = manner;
    const std::size_t shift = exclusive ? 1 : 0;
    T running = before;
    std::size_t i = 0;
    std::size_t reduced = 0;
    const auto one_item = [&](T item) HWY_ATTR {
        const T result = scalar(running, item);
        out[i] = exclusive ? running : result;
        running = result;
        ++i;
    };
    auto folded = hn::Set(d, Op::scalar::template identity<T>());
    if (n >= 4 * lanes) {
        const std::size_t vector_bytes = lanes * sizeof(T);
        while (reinterpret_cast<std::uintptr_t>(out + i + shift) % vector_bytes != 0) {
            one_item(in[i]);
        }
        const T* coming = ahead != nullptr ? ahead : in + i;
        auto carry = hn::Set(d, running);
        auto next = hn::LoadU(d, in + i);
        // The value before item i belongs to out[i], which the shifted stores do not reach.
        if (exclusive) out[i] = running;
        for (; i + 2 * lanes + shift <= n; i += lanes, reduced += lanes) {
            const auto scanned = scan_vector(op, d, next);
            next = hn::LoadU(d, in + i + lanes);
            prefetch(coming + reduced);
            if (ahead != nullptr) folded = fold(op, d, folded, hn::LoadU(d, ahead + reduced));
            const auto result = op(carry, scanned);
            if (stream) {
                hn::Stream(result, d, out + i + shift);
            } else {
                hn::Store(result, d, out + i + shift);
            }
            carry = op(carry, last_lane(d, scanned));
        }
        running = hn::GetLane(carry);
        if (stream) hwy::FlushStream();
        // In place the shifted stores have overwritten in[i]; `next` still holds it.
        one_item(hn::GetLane(next));
    }
    // NOLINTNEXTLINE(bugprone-infinite-loop): one_item() counts i
    while (i < n) one_item(in[i]);
    T total = fold_end(op, d, folded);
    if (ahead != nullptr) {
        for (; reduced < n; ++reduced) total = scalar(total, ahead[reduced]);
    }
    return total;
}

template <class Op, class T>
T combine_items(T earlier, T later) {
    return typename Op::scalar()(earlier, later);
}

template <class T>
struct make_scan_lanes {
    template <class Op>
    scan_lanes<T> operator()(Op /*op*/) const {
        return {&reduce_items<Op, T>, &scan_items<Op, T>, &combine_items<Op, T>,
                Op::scalar::template identity<T>()};
    }
};

template <class T>
scan_lanes<T> choose_scan_lanes(scan_operator op) {
    return choose_operator<T>(op, make_scan_lanes<T>());
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
