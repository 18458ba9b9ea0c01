// CPU backend: the SIMD loops of scan, compiled for each target, and the choice at run time.
#include "cpu/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/scan_lanes.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once more for each target.
#include "cpu/scan_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

auto scan_u8(scan_operator op) {
    return choose_scan_lanes<std::uint8_t>(op);
}
auto scan_u16(scan_operator op) {
    return choose_scan_lanes<std::uint16_t>(op);
}
auto scan_u32(scan_operator op) {
    return choose_scan_lanes<std::uint32_t>(op);
}
auto scan_u64(scan_operator op) {
    return choose_scan_lanes<std::uint64_t>(op);
}
auto scan_i8(scan_operator op) {
    return choose_scan_lanes<std::int8_t>(op);
}
auto scan_i16(scan_operator op) {
    return choose_scan_lanes<std::int16_t>(op);
}
auto scan_i32(scan_operator op) {
    return choose_scan_lanes<std::int32_t>(op);
}
auto scan_i64(scan_operator op) {
    return choose_scan_lanes<std::int64_t>(op);
}
auto scan_f32(scan_operator op) {
    return choose_scan_lanes<float>(op);
}
auto scan_f64(scan_operator op) {
    return choose_scan_lanes<double>(op);
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::cpu {

HWY_EXPORT(scan_u8);
HWY_EXPORT(scan_u16);
HWY_EXPORT(scan_u32);
HWY_EXPORT(scan_u64);
HWY_EXPORT(scan_i8);
HWY_EXPORT(scan_i16);
HWY_EXPORT(scan_i32);
HWY_EXPORT(scan_i64);
HWY_EXPORT(scan_f32);
HWY_EXPORT(scan_f64);

template <class T>
scan_lanes<T> find_scan_lanes(scan_operator op) {
    if constexpr (std::is_same_v<T, std::uint8_t>) return HWY_DYNAMIC_DISPATCH(scan_u8)(op);
    if constexpr (std::is_same_v<T, std::uint16_t>) return HWY_DYNAMIC_DISPATCH(scan_u16)(op);
    if constexpr (std::is_same_v<T, std::uint32_t>) return HWY_DYNAMIC_DISPATCH(scan_u32)(op);
    if constexpr (std::is_same_v<T, std::uint64_t>) return HWY_DYNAMIC_DISPATCH(scan_u64)(op);
    if constexpr (std::is_same_v<T, std::int8_t>) return HWY_DYNAMIC_DISPATCH(scan_i8)(op);
    if constexpr (std::is_same_v<T, std::int16_t>) return HWY_DYNAMIC_DISPATCH(scan_i16)(op);
    if constexpr (std::is_same_v<T, std::int32_t>) return HWY_DYNAMIC_DISPATCH(scan_i32)(op);
    if constexpr (std::is_same_v<T, std::int64_t>) return HWY_DYNAMIC_DISPATCH(scan_i64)(op);
    if constexpr (std::is_same_v<T, float>) return HWY_DYNAMIC_DISPATCH(scan_f32)(op);
    if constexpr (std::is_same_v<T, double>) return HWY_DYNAMIC_DISPATCH(scan_f64)(op);
}

template scan_lanes<std::uint8_t> find_scan_lanes(scan_operator);
template scan_lanes<std::uint16_t> find_scan_lanes(scan_operator);
template scan_lanes<std::uint32_t> find_scan_lanes(scan_operator);
template scan_lanes<std::uint64_t> find_scan_lanes(scan_operator);
template scan_lanes<std::int8_t> find_scan_lanes(scan_operator);
template scan_lanes<std::int16_t> find_scan_lanes(scan_operator);
template scan_lanes<std::int32_t> find_scan_lanes(scan_operator);
template scan_lanes<std::int64_t> find_scan_lanes(scan_operator);
template scan_lanes<float> find_scan_lanes(scan_operator);
template scan_lanes<double> find_scan_lanes(scan_operator);

}  // namespace lookback::cpu
#endif
