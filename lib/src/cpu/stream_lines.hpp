// CPU backend: stores that go past the caches.
// Invariant: whoever streams lines ends with a fence before it tells another thread.
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lookback::cpu {

/// Copies whole cache lines past the caches; both sides are aligned to 64 bytes.
template <std::size_t Bytes>
inline void stream_lines(void* to, const void* from) {
    static_assert(Bytes % 64 == 0);
#if defined(__SSE2__)
    auto* out = static_cast<__m128i*>(to);
    const auto* in = static_cast<const __m128i*>(from);
    for (std::size_t i = 0; i < Bytes / 16; ++i) _mm_stream_si128(out + i, _mm_load_si128(in + i));
#else
    std::memcpy(to, from, Bytes);
#endif
}

/// Orders streamed lines before whatever tells another thread that they are there.
inline void stream_fence() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace lookback::cpu
