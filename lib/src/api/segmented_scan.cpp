#include "cpu/segmented_scan.hpp"

#include "api/context_state.hpp"
#include "api/scan_checks.hpp"
#include "item_list.hpp"

#include <lookback/segmented_scan.hpp>

namespace lookback {
namespace {

template <class T>
cuda::segmented_arrays<T> arrays_of(std::span<const T> in, std::span<const std::int64_t> offsets,
                                    std::span<T> out) {
    return {in.data(), out.data(), in.size(), offsets.data(), offsets.size() - 1};
}

template <class T>
scan_strategy scan_checked(const char* who, const context& context, std::span<const T> in,
                           std::span<const std::int64_t> offsets, std::span<T> out, bool exclusive,
                           scan_options<T> options) {
    check_operator<T>(who, options.op);
    check_arrays(who, in, out);
    check_apart(who, "offsets", offsets.data(), offsets.size_bytes(), "out", out.data(),
                out.size_bytes());
    check_offsets(context, who, offsets, in.size(), "items");
    if (exclusive && !options.init) options.init = start_of<T>(options.op);
    if (cuda::device* const device = context.internal().device.get()) {
        return cuda::segmented_scan(*device, arrays_of(in, offsets, out), exclusive, options);
    }
    cpu::segmented_scan(*context.internal().executor, context.memory(), in, offsets, out, exclusive,
                        options);
    return scan_strategy::lookback;
}

}  // namespace

template <arithmetic_item T>
scan_strategy segmented_inclusive_scan(const context& context, std::span<const T> in,
                                       std::span<const std::int64_t> offsets, std::span<T> out,
                                       const scan_options<T>& options) {
    return scan_checked("segmented_inclusive_scan", context, in, offsets, out, false, options);
}

template <arithmetic_item T>
scan_strategy segmented_exclusive_scan(const context& context, std::span<const T> in,
                                       std::span<const std::int64_t> offsets, std::span<T> out,
                                       const scan_options<T>& options) {
    return scan_checked("segmented_exclusive_scan", context, in, offsets, out, true, options);
}

template <arithmetic_item T>
scan_strategy segmented_reduce(const context& context, std::span<const T> in,
                               std::span<const std::int64_t> offsets, std::span<T> out,
                               const scan_options<T>& options) {
    constexpr const char* who = "segmented_reduce";
    check_operator<T>(who, options.op);
    check_apart(who, "in", in.data(), in.size_bytes(), "out", out.data(), out.size_bytes());
    check_apart(who, "offsets", offsets.data(), offsets.size_bytes(), "out", out.data(),
                out.size_bytes());
    check_offsets(context, who, offsets, in.size(), "items");
    if (out.size() != offsets.size() - 1) {
        refuse(who, "out has " + std::to_string(out.size()) + " items, but there are " +
                        std::to_string(offsets.size() - 1) + " segments; they must be equal");
    }
    const T empty = options.init.value_or(start_of<T>(options.op));
    if (cuda::device* const device = context.internal().device.get()) {
        return cuda::segmented_reduce(*device, arrays_of(in, offsets, out), empty, options);
    }
    cpu::segmented_reduce(*context.internal().executor, context.memory(), in, offsets, out, empty,
                          options);
    return scan_strategy::lookback;
}

#define LOOKBACK_SCANNABLE(T)                                                                    \
    template scan_strategy segmented_inclusive_scan(const context&, std::span<const T>,          \
                                                    std::span<const std::int64_t>, std::span<T>, \
                                                    const scan_options<T>&);                     \
    template scan_strategy segmented_exclusive_scan(const context&, std::span<const T>,          \
                                                    std::span<const std::int64_t>, std::span<T>, \
                                                    const scan_options<T>&);                     \
    template scan_strategy segmented_reduce(const context&, std::span<const T>,                  \
                                            std::span<const std::int64_t>, std::span<T>,         \
                                            const scan_options<T>&)

LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_SCANNABLE);
#undef LOOKBACK_SCANNABLE

}  // namespace lookback
