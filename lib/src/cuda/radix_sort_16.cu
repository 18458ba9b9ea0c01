// CUDA backend: sorts by keys of 16 bits.
#include "cuda/radix_column.cuh"

namespace lookback::cuda {

LOOKBACK_RADIX_COLUMN(std::uint16_t);

}  // namespace lookback::cuda
