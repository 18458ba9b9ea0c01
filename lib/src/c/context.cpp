#include "c/boundary.hpp"

#include <algorithm>
#include <cstring>

namespace lookback::c {
namespace {

thread_local char last_error[512] = "";

}  // namespace

lookback_status record(lookback_status status, const char* text) noexcept {
    const std::size_t length = std::min(std::strlen(text), sizeof(last_error) - 1);
    std::memcpy(last_error, text, length);
    last_error[length] = '\0';
    return status;
}

// The C constants are the C++ enumerators, in the same order.
static_assert(LOOKBACK_INVALID_ARGUMENT == static_cast<int>(error_kind::invalid_argument) + 1);
static_assert(LOOKBACK_OUT_OF_MEMORY == static_cast<int>(error_kind::out_of_memory) + 1);
static_assert(LOOKBACK_BACKEND_ERROR == static_cast<int>(error_kind::backend_error) + 1);
static_assert(LOOKBACK_IO_ERROR == static_cast<int>(error_kind::io_error) + 1);
static_assert(LOOKBACK_I8 == static_cast<int>(data_type::i8));
static_assert(LOOKBACK_U8 == static_cast<int>(data_type::u8));
static_assert(LOOKBACK_F16 == static_cast<int>(data_type::f16));
static_assert(LOOKBACK_F64 == static_cast<int>(data_type::f64));
static_assert(LOOKBACK_CPU == static_cast<int>(backend::cpu));
static_assert(LOOKBACK_CUDA == static_cast<int>(backend::cuda));

}  // namespace lookback::c

using namespace lookback;

const char* lookback_version(void) {
    return version().data();  // a literal, so it ends in a zero
}

const char* lookback_last_error(void) {
    return c::last_error;
}

lookback_status lookback_context_create(lookback_context** context, lookback_backend backend,
                                        int32_t threads) {
    static constexpr const char* call = "lookback_context_create";
    return c::guarded([&] {
        c::require_pointer(call, "context", context);
        *context = nullptr;
        const auto wanted =
            c::checked<lookback::backend>(call, "backend", backend, LOOKBACK_CUDA + 1);
        *context = new lookback_context{
            lookback::context(context_options{.backend = wanted, .threads = threads})};
    });
}

void lookback_context_destroy(lookback_context* context) {
    delete context;
}

lookback_status lookback_context_backend(const lookback_context* context,
                                         lookback_backend* backend) {
    static constexpr const char* call = "lookback_context_backend";
    return c::guarded([&] {
        c::require_pointer(call, "backend", backend);
        *backend = static_cast<lookback_backend>(c::context_of(call, context).active_backend());
    });
}

lookback_status lookback_context_threads(const lookback_context* context, int32_t* threads) {
    static constexpr const char* call = "lookback_context_threads";
    return c::guarded([&] {
        c::require_pointer(call, "threads", threads);
        *threads = c::context_of(call, context).threads();
    });
}

lookback_status lookback_allocate(lookback_context* context, size_t bytes, void** block) {
    static constexpr const char* call = "lookback_allocate";
    return c::guarded([&] {
        c::require_pointer(call, "block", block);
        *block = nullptr;
        memory_resource& memory = c::context_of(call, context).memory();
        if (bytes != 0) *block = memory.allocate(bytes);
    });
}

lookback_status lookback_deallocate(lookback_context* context, void* block, size_t bytes) {
    return c::guarded([&] {
        memory_resource& memory = c::context_of("lookback_deallocate", context).memory();
        if (block != nullptr) memory.deallocate(block, bytes);
    });
}
