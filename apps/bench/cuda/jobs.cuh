// The jobs of lookback-bench-cuda that lie in files of their own.
#pragma once

#include "bench/cuda/arena.cuh"

namespace lookback::bench {

/// Segmented scans and reductions over segments of every shape.
void segments(const arena& a);
/// The same by other cuts of the kernels, for tuning/segmented_scan.hpp.
void tune_segments(const arena& a);
/// The forms of the scans of a warp and of a block.
void survey(const arena& a);

}  // namespace lookback::bench
