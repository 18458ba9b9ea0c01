// CUDA backend: keys sorted between a reader and a writer. They lie on the device alone; the host
// has pieces of them, which are read, copied and written at once.
#include "cuda/backend.hpp"
#include "cuda/cuda_check.hpp"
#include "cuda/pinned_pieces.hpp"

#include <lookback/buffer.hpp>

#include <algorithm>

namespace lookback::cuda {
namespace {

// Long enough for the bus, short enough that few are under way when the last one is read.
constexpr std::size_t usual_piece_bytes = std::size_t{4} << 20;
// More threads decode faster than the bus takes.
constexpr int most_threads = 16;

std::size_t stream_piece_bytes(std::size_t key_bytes, std::size_t block) {
    const std::size_t block_bytes = block * key_bytes;
    return std::max<std::size_t>(usual_piece_bytes / block_bytes, 1) * block_bytes;
}

}  // namespace

void sort_key_stream(device& device, memory_resource& memory, const key_stream& stream,
                     int threads) {
    if (stream.size == 0) return;
    auto& gpu = static_cast<gpu_device&>(device);
    cuda_check(cudaSetDevice(gpu.ordinal()), "select the device");
    const std::size_t key_bytes = size_of(stream.type);
    const std::size_t bytes = stream.size * key_bytes;
    const std::size_t piece = stream_piece_bytes(key_bytes, stream.block);
    const auto pieces = static_cast<int>(std::min<std::size_t>((bytes - 1) / piece + 1, 1 << 10));
    pinned_pieces through(gpu, std::min({threads, most_threads, pieces}), piece);
    const buffer<std::byte> keys(memory, bytes);
    through.send(keys.data(), bytes, [&](std::size_t offset, std::size_t size, std::byte* into) {
        stream.read(offset / key_bytes, size / key_bytes, into);
    });
    sort_keys(device, memory, keys.data(), stream.type, stream.size,
              {stream.order, 0, 8 * static_cast<int>(key_bytes)});
    through.fetch(keys.data(), bytes, [&](std::size_t offset, std::size_t size, std::byte* from) {
        stream.write(offset / key_bytes, size / key_bytes, from);
    });
}

std::size_t sort_key_stream_host_memory(std::size_t key_bytes, std::size_t block, int threads) {
    return 2 * static_cast<std::size_t>(std::min(threads, most_threads)) *
           stream_piece_bytes(key_bytes, block);
}

}  // namespace lookback::cuda
