// lookback-bench: Highway's vqsort, with the instruction set that suits it best here.
// Invariant: whatever set it uses, the library under test chooses its own.
#pragma once

#include <cstdint>
#include <span>

namespace lookback::bench {

/// "AVX2" where vqsort is faster with that than with AVX-512 (processors on which stores of chosen
/// lanes are microcode run the latter several times slower), else "the best instruction set".
const char* vqsort_target();

void vqsort(std::span<std::uint32_t> keys);
void vqsort(std::span<std::int32_t> keys);
void vqsort(std::span<float> keys);
void vqsort(std::span<std::uint64_t> keys);
void vqsort(std::span<double> keys);

}  // namespace lookback::bench
