// CUDA backend: compactions of items of 8 bits.
#include "cuda/compact_column.cuh"

namespace lookback::cuda {

template struct compact_column<std::uint8_t>;

}  // namespace lookback::cuda
