// CUDA backend: sorts by keys of 8 bits.
#include "cuda/radix_column.cuh"

namespace lookback::cuda {

LOOKBACK_RADIX_COLUMN(std::uint8_t);

}  // namespace lookback::cuda
