// Tests: whether a sanitizer watches, so that long loops can take fewer steps there.
#pragma once

#include <cstddef>

namespace lookback::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// 1, or `stride` under a sanitizer: what a loop over sizes adds at each step.
constexpr std::size_t step(std::size_t stride) {
    return sanitized ? stride : 1;
}

}  // namespace lookback::test
