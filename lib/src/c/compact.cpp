#include "c/boundary.hpp"

#include <lookback/compact.hpp>

namespace lookback::c {
namespace {

static_assert(LOOKBACK_LESS == static_cast<int>(comparison::less));
static_assert(LOOKBACK_LESS_EQUAL == static_cast<int>(comparison::less_equal));
static_assert(LOOKBACK_EQUAL == static_cast<int>(comparison::equal));
static_assert(LOOKBACK_NOT_EQUAL == static_cast<int>(comparison::not_equal));
static_assert(LOOKBACK_GREATER_EQUAL == static_cast<int>(comparison::greater_equal));
static_assert(LOOKBACK_GREATER == static_cast<int>(comparison::greater));

// The selection of the calls on items, untyped.
struct selection {
    const char* call;
    lookback_context* context;
    lookback_type type;
    const void* in;
    size_t n;
    void* out;
    size_t room;
    size_t* kept;
};

// *kept = keep(context, in, out) with the types of a selection.
template <class Keep>
lookback_status run_selection(const selection& a, const Keep& keep) noexcept {
    return guarded([&] {
        const context& context = context_of(a.call, a.context);
        require_pointer(a.call, "kept", a.kept);
        with_type(checked_type(a.call, a.type), [&](auto item) {
            using T = decltype(item);
            if constexpr (arithmetic_item<T>) {
                *a.kept = keep(context, items<T>(a.call, "in", a.in, a.n),
                               items<T>(a.call, "out", a.out, a.room));
            } else {
                refuse(std::string(a.call) + ": f16 has no arithmetic; convert it to f32 first");
            }
        });
    });
}

}  // namespace
}  // namespace lookback::c

lookback_status lookback_compact_if(lookback_context* context, lookback_type type,
                                    lookback_comparison op, const void* value, const void* in,
                                    size_t n, void* out, size_t room, size_t* kept) {
    const char* const call = __func__;
    return lookback::c::run_selection(
        {call, context, type, in, n, out, room, kept},
        [=]<class T>(const lookback::context& at, std::span<const T> from, std::span<T> to) {
            using namespace lookback::c;
            const auto how = checked<lookback::comparison>(call, "op", op, LOOKBACK_GREATER + 1);
            return lookback::compact_if<T>(at, from, how, items<T>(call, "value", value, 1)[0], to);
        });
}

lookback_status lookback_unique(lookback_context* context, lookback_type type, const void* in,
                                size_t n, void* out, size_t room, size_t* kept) {
    return lookback::c::run_selection(
        {__func__, context, type, in, n, out, room, kept},
        []<class T>(const lookback::context& at, std::span<const T> from, std::span<T> to) {
            return lookback::unique<T>(at, from, to);
        });
}

lookback_status lookback_compact_rows(lookback_context* context, const uint8_t* flags, size_t rows,
                                      const void* in, size_t row_bytes, void* kept_rows,
                                      void* rest_rows, size_t* kept) {
    using namespace lookback::c;
    const char* const call = __func__;
    return guarded([&] {
        const lookback::context& at = context_of(call, context);
        require_pointer(call, "kept", kept);
        require_pointer(call, "in", in, rows);
        require_size(call, rows, row_bytes);
        const lookback::moved_rows column{in, row_bytes, kept_rows, rest_rows};
        const auto given = items<std::uint8_t>(call, "flags", flags, rows);
        *kept = lookback::compact(at, lookback::row_flags::bytes(given), {&column, 1});
    });
}

lookback_status lookback_compact_indices(lookback_context* context, const uint8_t* flags,
                                         size_t rows, int64_t* index, size_t room, size_t* kept) {
    using namespace lookback::c;
    const char* const call = __func__;
    return guarded([&] {
        const lookback::context& at = context_of(call, context);
        require_pointer(call, "kept", kept);
        const auto given = items<std::uint8_t>(call, "flags", flags, rows);
        *kept = lookback::compact_indices<std::int64_t>(
            at, lookback::row_flags::bytes(given), items<std::int64_t>(call, "index", index, room));
    });
}
