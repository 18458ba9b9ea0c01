// CUDA backend: compactions of items of 64 bits.
#include "cuda/compact_column.cuh"

namespace lookback::cuda {

template struct compact_column<std::uint64_t>;

}  // namespace lookback::cuda
