// CPU backend: the SIMD loops of segmented scan, compiled for each target, and the choice at run
// time.
#include "cpu/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/segmented_lanes.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once more for each target.
#include "cpu/segmented_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

auto segmented_u8(scan_operator op) {
    return choose_operator<std::uint8_t>(op, make_segmented_scan<std::uint8_t>());
}
auto segmented_u16(scan_operator op) {
    return choose_operator<std::uint16_t>(op, make_segmented_scan<std::uint16_t>());
}
auto segmented_u32(scan_operator op) {
    return choose_operator<std::uint32_t>(op, make_segmented_scan<std::uint32_t>());
}
auto segmented_u64(scan_operator op) {
    return choose_operator<std::uint64_t>(op, make_segmented_scan<std::uint64_t>());
}
auto segmented_i8(scan_operator op) {
    return choose_operator<std::int8_t>(op, make_segmented_scan<std::int8_t>());
}
auto segmented_i16(scan_operator op) {
    return choose_operator<std::int16_t>(op, make_segmented_scan<std::int16_t>());
}
auto segmented_i32(scan_operator op) {
    return choose_operator<std::int32_t>(op, make_segmented_scan<std::int32_t>());
}
auto segmented_i64(scan_operator op) {
    return choose_operator<std::int64_t>(op, make_segmented_scan<std::int64_t>());
}
auto segmented_f32(scan_operator op) {
    return choose_operator<float>(op, make_segmented_scan<float>());
}
auto segmented_f64(scan_operator op) {
    return choose_operator<double>(op, make_segmented_scan<double>());
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::cpu {

HWY_EXPORT(segmented_u8);
HWY_EXPORT(segmented_u16);
HWY_EXPORT(segmented_u32);
HWY_EXPORT(segmented_u64);
HWY_EXPORT(segmented_i8);
HWY_EXPORT(segmented_i16);
HWY_EXPORT(segmented_i32);
HWY_EXPORT(segmented_i64);
HWY_EXPORT(segmented_f32);
HWY_EXPORT(segmented_f64);

template <class T>
segmented_scan_function<T> find_segmented_scan(scan_operator op) {
    if constexpr (std::is_same_v<T, std::uint8_t>) return HWY_DYNAMIC_DISPATCH(segmented_u8)(op);
    if constexpr (std::is_same_v<T, std::uint16_t>) return HWY_DYNAMIC_DISPATCH(segmented_u16)(op);
    if constexpr (std::is_same_v<T, std::uint32_t>) return HWY_DYNAMIC_DISPATCH(segmented_u32)(op);
    if constexpr (std::is_same_v<T, std::uint64_t>) return HWY_DYNAMIC_DISPATCH(segmented_u64)(op);
    if constexpr (std::is_same_v<T, std::int8_t>) return HWY_DYNAMIC_DISPATCH(segmented_i8)(op);
    if constexpr (std::is_same_v<T, std::int16_t>) return HWY_DYNAMIC_DISPATCH(segmented_i16)(op);
    if constexpr (std::is_same_v<T, std::int32_t>) return HWY_DYNAMIC_DISPATCH(segmented_i32)(op);
    if constexpr (std::is_same_v<T, std::int64_t>) return HWY_DYNAMIC_DISPATCH(segmented_i64)(op);
    if constexpr (std::is_same_v<T, float>) return HWY_DYNAMIC_DISPATCH(segmented_f32)(op);
    if constexpr (std::is_same_v<T, double>) return HWY_DYNAMIC_DISPATCH(segmented_f64)(op);
}

template segmented_scan_function<std::uint8_t> find_segmented_scan(scan_operator);
template segmented_scan_function<std::uint16_t> find_segmented_scan(scan_operator);
template segmented_scan_function<std::uint32_t> find_segmented_scan(scan_operator);
template segmented_scan_function<std::uint64_t> find_segmented_scan(scan_operator);
template segmented_scan_function<std::int8_t> find_segmented_scan(scan_operator);
template segmented_scan_function<std::int16_t> find_segmented_scan(scan_operator);
template segmented_scan_function<std::int32_t> find_segmented_scan(scan_operator);
template segmented_scan_function<std::int64_t> find_segmented_scan(scan_operator);
template segmented_scan_function<float> find_segmented_scan(scan_operator);
template segmented_scan_function<double> find_segmented_scan(scan_operator);

}  // namespace lookback::cpu
#endif
