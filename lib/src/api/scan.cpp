#include "cpu/scan.hpp"

#include "api/context_state.hpp"
#include "api/scan_checks.hpp"
#include "item_list.hpp"

#include <lookback/scan.hpp>

namespace lookback {
namespace {

template <class T>
scan_strategy scan_checked(const char* who, const context& context, std::span<const T> in,
                           std::span<T> out, bool exclusive, scan_options<T> options) {
    check_operator<T>(who, options.op);
    check_arrays(who, in, out);
    if (exclusive && !options.init) options.init = start_of<T>(options.op);
    if (context.internal().device) {
        return cuda::scan(*context.internal().device, in.data(), out.data(), in.size(), exclusive,
                          options);
    }
    cpu::scan(*context.internal().executor, context.memory(), in, out, exclusive, options);
    return scan_strategy::lookback;
}

}  // namespace

template <arithmetic_item T>
scan_strategy inclusive_scan(const context& context, std::span<const T> in, std::span<T> out,
                             const scan_options<T>& options) {
    return scan_checked("inclusive_scan", context, in, out, false, options);
}

template <arithmetic_item T>
scan_strategy exclusive_scan(const context& context, std::span<const T> in, std::span<T> out,
                             const scan_options<T>& options) {
    return scan_checked("exclusive_scan", context, in, out, true, options);
}

#define LOOKBACK_SCANNABLE(T)                                                               \
    template scan_strategy inclusive_scan(const context&, std::span<const T>, std::span<T>, \
                                          const scan_options<T>&);                          \
    template scan_strategy exclusive_scan(const context&, std::span<const T>, std::span<T>, \
                                          const scan_options<T>&)

LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_SCANNABLE);
#undef LOOKBACK_SCANNABLE

}  // namespace lookback
