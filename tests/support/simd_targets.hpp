// Tests: the same test once for every instruction set that this machine has and the library uses.
// Invariant: afterwards the best one is chosen again.
#pragma once

#include "cpu/vector_targets.hpp"

#include <cstdint>

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace lookback::test {

/// body(name) with dispatch held at each target in turn: "AVX3" (AVX-512), "AVX2", "SCALAR", ...
template <class Body>
void for_each_simd_target(const Body& body) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        body(hwy::TargetName(target));
    }
    hwy::SetSupportedTargetsForTest(0);
}

}  // namespace lookback::test
