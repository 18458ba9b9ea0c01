// Tests: a context of one backend for a test of the public API. Without a GPU the CUDA one skips,
// and says so; where LOOKBACK_REQUIRE_CUDA is 1 it fails instead.
#pragma once

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>
#include <lookback/error.hpp>

#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::test {

/// Sets `context` to one of the backend, or skips or fails the test.
inline void open_context(backend wanted, std::optional<context>& opened) {
    try {
        opened.emplace(context_options{.backend = wanted});
    } catch (const error& failure) {
        const char* required = std::getenv("LOOKBACK_REQUIRE_CUDA");
        if (required != nullptr && std::string(required) == "1") FAIL() << failure.what();
        GTEST_SKIP() << "no GPU: " << failure.what();
    }
}

/// A copy of host items in the context's memory.
template <class T>
buffer<T> upload(const context& to, std::span<const T> items) {
    buffer<T> copy(to, items.size());
    if (!items.empty()) to.copy(copy.data(), items.data(), items.size_bytes());
    return copy;
}

template <class T>
std::vector<T> download(const context& from, std::span<const T> items) {
    std::vector<T> copy(items.size());
    if (!items.empty()) from.copy(copy.data(), items.data(), items.size_bytes());
    return copy;
}

}  // namespace lookback::test
