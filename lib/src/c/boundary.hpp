// C API: what stands between C callers and the C++ API.
// Invariant: guarded() lets nothing escape; an error's text is kept without allocating.
#pragma once

#include <lookback/context.hpp>
#include <lookback/error.hpp>
#include <lookback/lookback.h>
#include <lookback/types.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <string>

struct lookback_context {
    lookback::context context;
};

namespace lookback::c {

/// Keeps the text for lookback_last_error() and returns the status.
lookback_status record(lookback_status status, const char* text) noexcept;

/// Runs a call; turns whatever it throws into a status and a text.
template <class Call>
lookback_status guarded(const Call& call) noexcept {
    try {
        call();
        return LOOKBACK_OK;
    } catch (const error& failure) {
        return record(static_cast<lookback_status>(failure.kind()) + 1, failure.what());
    } catch (const std::bad_alloc&) {
        return record(LOOKBACK_OUT_OF_MEMORY, "out of host memory");
    } catch (const std::exception& failure) {
        return record(LOOKBACK_BACKEND_ERROR, failure.what());
    } catch (...) {
        return record(LOOKBACK_BACKEND_ERROR, "an unknown exception");
    }
}

[[noreturn]] inline void refuse(const std::string& message) {
    throw error(error_kind::invalid_argument, message);
}

/// Refuses null where there is something to read or write.
inline void require_pointer(const char* call, const char* name, const void* pointer,
                            std::size_t items = 1) {
    if (items != 0 && pointer == nullptr) refuse(std::string(call) + ": " + name + " is null");
}

inline const context& context_of(const char* call, const lookback_context* handle) {
    require_pointer(call, "context", handle);
    return handle->context;
}

/// Refuses sizes whose bytes do not fit an address, before they wrap.
inline void require_size(const char* call, std::size_t items, std::size_t item_bytes) {
    if (item_bytes != 0 && items > PTRDIFF_MAX / item_bytes) {
        refuse(std::string(call) + ": " + std::to_string(items) + " items of " +
               std::to_string(item_bytes) + " bytes exceed the address space");
    }
}

/// A value of the closed list [0, count), as the C++ enumeration.
template <class Enum>
Enum checked(const char* call, const char* name, std::int32_t value, std::int32_t count) {
    if (value < 0 || value >= count) {
        refuse(std::string(call) + ": " + name + " is " + std::to_string(value) +
               "; it must be one of the constants of lookback.h");
    }
    return static_cast<Enum>(value);
}

inline data_type checked_type(const char* call, lookback_type type) {
    return checked<data_type>(call, "type", type, LOOKBACK_F64 + 1);
}

/// visit(T{}) with the C++ type of a data_type.
template <class Visit>
void with_type(data_type type, const Visit& visit) {
    switch (type) {
        case data_type::i8:
            return visit(std::int8_t{});
        case data_type::i16:
            return visit(std::int16_t{});
        case data_type::i32:
            return visit(std::int32_t{});
        case data_type::i64:
            return visit(std::int64_t{});
        case data_type::u8:
            return visit(std::uint8_t{});
        case data_type::u16:
            return visit(std::uint16_t{});
        case data_type::u32:
            return visit(std::uint32_t{});
        case data_type::u64:
            return visit(std::uint64_t{});
        case data_type::f16:
            return visit(float16{});
        case data_type::f32:
            return visit(float{});
        case data_type::f64:
            return visit(double{});
    }
}

/// n items of T behind an untyped pointer; refuses null and a pointer not aligned to T.
template <class T, class Void>
auto items(const char* call, const char* name, Void* pointer, std::size_t n) {
    require_pointer(call, name, pointer, n);
    require_size(call, n, sizeof(T));
    if (reinterpret_cast<std::uintptr_t>(pointer) % alignof(T) != 0) {
        refuse(std::string(call) + ": " + name + " is not aligned to its " +
               std::to_string(sizeof(T)) + "-byte items");
    }
    using item = std::conditional_t<std::is_const_v<Void>, const T, T>;
    return std::span<item>(static_cast<item*>(pointer), n);
}

}  // namespace lookback::c
