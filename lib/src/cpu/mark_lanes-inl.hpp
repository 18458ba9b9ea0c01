// CPU backend, compiled once a SIMD target: comparisons of items as bits, behind compact_lanes.hpp.
// Invariant: 64 items make one word; a last partial word goes item by item.
#if defined(LOOKBACK_MARK_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_MARK_LANES_INL
#undef LOOKBACK_MARK_LANES_INL
#else
#define LOOKBACK_MARK_LANES_INL
#endif

#include "cpu/compact_lanes.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct mark_less {
    template <class T>
    static bool item(T a, T b) {
        return a < b;
    }
    template <class V>
    HWY_INLINE static auto vector(V a, V b) {
        return hn::Lt(a, b);
    }
};
struct mark_greater {
    template <class T>
    static bool item(T a, T b) {
        return a > b;
    }
    template <class V>
    HWY_INLINE static auto vector(V a, V b) {
        return hn::Gt(a, b);
    }
};
struct mark_equal {
    template <class T>
    static bool item(T a, T b) {
        return a == b;
    }
    template <class V>
    HWY_INLINE static auto vector(V a, V b) {
        return hn::Eq(a, b);
    }
};
struct mark_less_equal {
    template <class T>
    static bool item(T a, T b) {
        return a <= b;
    }
    template <class V>
    HWY_INLINE static auto vector(V a, V b) {
        return hn::Le(a, b);
    }
};
struct mark_greater_equal {
    template <class T>
    static bool item(T a, T b) {
        return a >= b;
    }
    template <class V>
    HWY_INLINE static auto vector(V a, V b) {
        return hn::Ge(a, b);
    }
};
/// Equal as keys: NaN equals NaN.
struct mark_same {
    template <class T>
    static bool item(T a, T b) {
        if constexpr (std::is_floating_point_v<T>)
            return a == b || (std::isnan(a) && std::isnan(b));
        return a == b;
    }
    template <class V>
    HWY_INLINE static auto vector(V a, V b) {
        if constexpr (hwy::IsFloat<hn::LaneType<V>>()) {
            return hn::Or(hn::Eq(a, b), hn::And(hn::IsNaN(a), hn::IsNaN(b)));
        } else {
            return hn::Eq(a, b);
        }
    }
};

/// words = Op(in[i], other(i)), or its complement. Other gives vectors by load(d, i) and items.
template <class Op, class T, class Other>
HWY_INLINE void mark_items(const T* in, std::size_t n, const Other& other, bool complement,
                           std::uint64_t* words) {
    std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const std::uint64_t flip = complement ? ~std::uint64_t{0} : 0;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    for (; i + 64 <= n; i += 64) {
        std::uint64_t word = 0;
        for (std::size_t at = 0; at < 64; at += lanes) {
            std::uint64_t part = 0;
            hn::StoreMaskBits(d, Op::vector(hn::LoadU(d, in + i + at), other.load(d, i + at)),
                              reinterpret_cast<std::uint8_t*>(&part));
            word |= part << at;
        }
        words[i / 64] = word ^ flip;
    }
#endif
    while (i < n) {
        const std::size_t items = std::min<std::size_t>(64, n - i);
        std::uint64_t word = 0;
        for (std::size_t at = 0; at < items; ++at) {
            word |= std::uint64_t{Op::item(in[i + at], other.item(i + at)) != complement} << at;
        }
        words[i / 64] = word;
        i += items;
    }
}

template <class T>
struct one_value {
    T value;
    template <class D>
    HWY_INLINE auto load(D d, std::size_t /*i*/) const {
        return hn::Set(d, value);
    }
    T item(std::size_t /*i*/) const { return value; }
};

template <class T>
struct items_before {
    const T* in;
    template <class D>
    HWY_INLINE auto load(D d, std::size_t i) const {
        return hn::LoadU(d, in + i - 1);
    }
    T item(std::size_t i) const { return *(in + i - 1); }
};

template <class Op, class T>
void mark_by_value(const T* in, std::size_t n, T value, std::uint64_t* words) {
    mark_items<Op>(in, n, one_value<T>{value}, false, words);
}

template <class T>
void mark_heads_of(const T* in, std::size_t n, std::uint64_t* words) {
    mark_items<mark_same>(in, n, items_before<T>{in}, true, words);
}

inline void bits_from_flags(const std::uint8_t* flags, std::size_t n, std::uint64_t* words) {
    mark_items<mark_equal>(flags, n, one_value<std::uint8_t>{0}, true, words);
}

template <class T>
typename mark_lanes<T>::compare choose_mark_compare(mark_comparison op) {
    switch (op) {
        case mark_comparison::less:
            return &mark_by_value<mark_less, T>;
        case mark_comparison::greater:
            return &mark_by_value<mark_greater, T>;
        case mark_comparison::equal:
            return &mark_by_value<mark_equal, T>;
        default:
            break;
    }
    // Integers have no NaN: their callers take the complement of the opposite.
    if constexpr (std::is_floating_point_v<T>) {
        return op == mark_comparison::less_equal ? &mark_by_value<mark_less_equal, T>
                                                 : &mark_by_value<mark_greater_equal, T>;
    }
    return nullptr;
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
