// CPU backend: the instruction sets that SIMD code is compiled for: portable, AVX2, AVX-512, NEON.
// Include before any header of Highway. Invariant: each further target costs its compile time in
// every SIMD file, and was no faster here (SSE4 machines without AVX2 are older than 2013).
#pragma once

#define HWY_DISABLED_TARGETS \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
