// CUDA backend: compactions of items of 16 bits.
#include "cuda/compact_column.cuh"

namespace lookback::cuda {

template struct compact_column<std::uint16_t>;

}  // namespace lookback::cuda
