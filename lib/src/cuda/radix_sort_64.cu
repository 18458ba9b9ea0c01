// CUDA backend: sorts by keys of 64 bits.
#include "cuda/radix_column.cuh"

namespace lookback::cuda {

LOOKBACK_RADIX_COLUMN(std::uint64_t);

}  // namespace lookback::cuda
