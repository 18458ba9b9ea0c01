// CUDA backend: compactions of items of 32 bits.
#include "cuda/compact_column.cuh"

namespace lookback::cuda {

template struct compact_column<std::uint32_t>;

}  // namespace lookback::cuda
