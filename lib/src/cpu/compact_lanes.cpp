// CPU backend: the SIMD loops of compaction, compiled for each target, and the choice at run time.
#include "cpu/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/compact_lanes.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once more for each target.
#include "cpu/compact_lanes-inl.hpp"
#include "cpu/mark_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

compact_lanes all_compact_lanes() {
    return {&bits_from_flags, &count_bits, &choose_compress, &stream_lines, &end_stream};
}

// A macro, because Highway exports plain functions alone.
#define LOOKBACK_MARKABLE(T, name)                 \
    auto compare_##name(mark_comparison op) {      \
        return choose_mark_compare<T>(op);         \
    }                                              \
    typename mark_lanes<T>::heads heads_##name() { \
        return &mark_heads_of<T>;                  \
    }

LOOKBACK_MARKABLE(std::uint8_t, u8)
LOOKBACK_MARKABLE(std::uint16_t, u16)
LOOKBACK_MARKABLE(std::uint32_t, u32)
LOOKBACK_MARKABLE(std::uint64_t, u64)
LOOKBACK_MARKABLE(std::int8_t, i8)
LOOKBACK_MARKABLE(std::int16_t, i16)
LOOKBACK_MARKABLE(std::int32_t, i32)
LOOKBACK_MARKABLE(std::int64_t, i64)
LOOKBACK_MARKABLE(float, f32)
LOOKBACK_MARKABLE(double, f64)
#undef LOOKBACK_MARKABLE

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::cpu {

HWY_EXPORT(all_compact_lanes);

compact_lanes find_compact_lanes() {
    return HWY_DYNAMIC_DISPATCH(all_compact_lanes)();
}

#define LOOKBACK_MARKABLE(T, name)                                             \
    HWY_EXPORT(compare_##name);                                                \
    HWY_EXPORT(heads_##name);                                                  \
    template <>                                                                \
    typename mark_lanes<T>::compare find_mark_compare<T>(mark_comparison op) { \
        return HWY_DYNAMIC_DISPATCH(compare_##name)(op);                       \
    }                                                                          \
    template <>                                                                \
    typename mark_lanes<T>::heads find_mark_heads<T>() {                       \
        return HWY_DYNAMIC_DISPATCH(heads_##name)();                           \
    }

LOOKBACK_MARKABLE(std::uint8_t, u8)
LOOKBACK_MARKABLE(std::uint16_t, u16)
LOOKBACK_MARKABLE(std::uint32_t, u32)
LOOKBACK_MARKABLE(std::uint64_t, u64)
LOOKBACK_MARKABLE(std::int8_t, i8)
LOOKBACK_MARKABLE(std::int16_t, i16)
LOOKBACK_MARKABLE(std::int32_t, i32)
LOOKBACK_MARKABLE(std::int64_t, i64)
LOOKBACK_MARKABLE(float, f32)
LOOKBACK_MARKABLE(double, f64)
#undef LOOKBACK_MARKABLE

}  // namespace lookback::cpu
#endif
