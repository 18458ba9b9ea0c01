#include "c/boundary.hpp"

#include <lookback/scan.hpp>

namespace lookback::c {
namespace {

static_assert(LOOKBACK_PLUS == static_cast<int>(scan_operator::plus));
static_assert(LOOKBACK_MULTIPLIES == static_cast<int>(scan_operator::multiplies));
static_assert(LOOKBACK_MINIMUM == static_cast<int>(scan_operator::minimum));
static_assert(LOOKBACK_MAXIMUM == static_cast<int>(scan_operator::maximum));
static_assert(LOOKBACK_BIT_AND == static_cast<int>(scan_operator::bit_and));
static_assert(LOOKBACK_BIT_OR == static_cast<int>(scan_operator::bit_or));
static_assert(LOOKBACK_BIT_XOR == static_cast<int>(scan_operator::bit_xor));

template <class T>
scan_options<T> options_of(const char* call, scan_operator op,
                           const lookback_scan_options* options) {
    scan_options<T> result{.op = op};
    if (options == nullptr) return result;
    if (options->init != nullptr) result.init = items<T>(call, "init", options->init, 1)[0];
    result.reproducible = options->reproducible != 0;
    if (options->strategy != nullptr) {
        const auto strategy = parse_scan_strategy(options->strategy);
        if (!strategy) {
            refuse(std::string(call) + ": there is no strategy \"" + options->strategy + "\"");
        }
        result.strategy = *strategy;
    }
    return result;
}

// The arguments of both scans, untyped.
struct arguments {
    const char* call;
    lookback_context* context;
    lookback_type type;
    lookback_operator op;
    const void* in;
    void* out;
    size_t n;
    const lookback_scan_options* options;
};

// scan(context, in, out, options) with the arguments' types.
template <class Scan>
lookback_status run(const arguments& a, const Scan& scan) noexcept {
    return guarded([&] {
        const context& context = context_of(a.call, a.context);
        const auto op = checked<scan_operator>(a.call, "op", a.op, LOOKBACK_BIT_XOR + 1);
        with_type(checked_type(a.call, a.type), [&](auto item) {
            using T = decltype(item);
            if constexpr (arithmetic_item<T>) {
                scan(context, items<T>(a.call, "in", a.in, a.n),
                     items<T>(a.call, "out", a.out, a.n), options_of<T>(a.call, op, a.options));
            } else {
                refuse(std::string(a.call) + ": f16 has no arithmetic; convert it to f32 first");
            }
        });
    });
}

}  // namespace
}  // namespace lookback::c

lookback_status lookback_inclusive_scan(lookback_context* context, lookback_type type,
                                        lookback_operator op, const void* in, void* out, size_t n,
                                        const lookback_scan_options* options) {
    return lookback::c::run({__func__, context, type, op, in, out, n, options},
                            [](const auto&... rest) { lookback::inclusive_scan(rest...); });
}

lookback_status lookback_exclusive_scan(lookback_context* context, lookback_type type,
                                        lookback_operator op, const void* in, void* out, size_t n,
                                        const lookback_scan_options* options) {
    return lookback::c::run({__func__, context, type, op, in, out, n, options},
                            [](const auto&... rest) { lookback::exclusive_scan(rest...); });
}
