// CUDA backend: sorts by keys of 32 bits.
#include "cuda/radix_column.cuh"

namespace lookback::cuda {

LOOKBACK_RADIX_COLUMN(std::uint32_t);

}  // namespace lookback::cuda
