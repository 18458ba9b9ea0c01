// CUDA backend: sorts of the API over columns of keys: by type, by several keys, by segments;
// gather. Invariant: several keys are sorted from the last to the first, each stably by the order
// so far.
#include "cuda/cuda_check.hpp"
#include "cuda/gpu_device.hpp"
#include "cuda/key_width.hpp"
#include "cuda/radix_column.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/device/gather.cuh>

#include <algorithm>
#include <bit>

namespace lookback::cuda {
namespace {

namespace kernels = lookback::device;  // `device` alone is the class of backend.hpp here
using core::index_t;

column_order order_of(data_type type, const sort_options& options) {
    return {kind_of(type), options.order.descending, options.order.nan_first, options.begin_bit,
            options.end_bit};
}

/// The kernels' type for an index: int64 and uint64 of non-negative numbers are the same bits.
template <class Index>
using kernel_index = std::make_unsigned_t<Index>;

gpu_device& own(device& device) {
    auto& gpu = static_cast<gpu_device&>(device);
    cuda_check(cudaSetDevice(gpu.ordinal()), "select the device");
    return gpu;
}

/// Items of `bytes` bytes at `in` and `out`, which are aligned as items of that size are in an
/// array.
template <class Index>
void gather_by_words(gpu_device& gpu, const void* in, std::size_t bytes, const Index* index,
                     void* out, std::size_t n) {
    const auto addresses =
        reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out) | bytes;
    with_bits(std::min<std::size_t>(8, addresses & (0 - addresses)), [&](auto word) {
        using Word = decltype(word);
        cuda_check(kernels::gather(static_cast<const Word*>(in), index, static_cast<Word*>(out),
                                   static_cast<index_t>(n),
                                   static_cast<index_t>(bytes / sizeof(Word)), gpu.native_stream()),
                   "launch a gather");
    });
}

/// Builds the index of rows that are sorted by one column after the other, the least first.
template <class Index>
class index_builder {
public:
    index_builder(gpu_device& gpu, memory_resource& memory, Index* index, std::size_t n)
        : gpu_(gpu),
          n_(n),
          index_(index),
          first_(memory, n),
          second_(memory, n),
          other_(memory, n) {}

    /// Then by a column of numbers.
    void by(const void* data, data_type type, const column_order& order) {
        with_bits(size_of(type), [&](auto bits) {
            using Bits = decltype(bits);
            if (!started_) {
                radix_column<Bits>::argsort(gpu_, static_cast<const Bits*>(data), first<Bits>(),
                                            second<Bits>(), index_, other_.data(), n_, order);
            } else {
                gather_by_words(gpu_, data, sizeof(Bits), index_, first_.data(), n_);
                sort_first<Bits>(order);
            }
        });
        started_ = true;
    }
    /// Then by a column of fixed strings, eight bytes at a time from the end.
    void by_strings(const void* data, std::size_t bytes, const sort_order& order) {
        const auto length = static_cast<index_t>(bytes);
        for (index_t word = (length - 1) / 8; word >= 0; --word) {
            cuda_check(
                arch::launch(kernels::gather_string_words<Index>,
                             kernels::gather_grid(static_cast<index_t>(n_)), gpu_.native_stream(),
                             static_cast<const unsigned char*>(data), length, word,
                             started_ ? index_ : nullptr, first_.data(), static_cast<index_t>(n_)),
                "launch a gather of strings");
            const int unused =
                word == (length - 1) / 8 ? static_cast<int>(8 * (word + 1) - length) : 0;
            sort_first<std::uint64_t>(
                {core::key_kind::unsigned_integer, order.descending, false, 8 * unused, 64});
            started_ = true;
        }
    }
    /// Then by the segments in which the rows lie.
    void by_segments(std::span<const std::int64_t> offsets) {
        const std::size_t segments = offsets.size() - 1;
        if (segments < 2) return;
        // Rows are numbered in their own order, then taken by the index.
        auto* numbers = reinterpret_cast<std::uint64_t*>(second_.data());
        cuda_check(arch::launch(kernels::number_segments<std::uint64_t>,
                                kernels::gather_grid(static_cast<index_t>(n_)),
                                gpu_.native_stream(), offsets.data(),
                                static_cast<index_t>(segments), numbers, static_cast<index_t>(n_)),
                   "launch the numbering of segments");
        gather_by_words(gpu_, numbers, sizeof(std::uint64_t), index_, first_.data(), n_);
        sort_first<std::uint64_t>({core::key_kind::unsigned_integer, false, false, 0,
                                   static_cast<int>(std::bit_width(segments - 1))});
    }

private:
    template <class Bits>
    Bits* first() {
        return reinterpret_cast<Bits*>(first_.data());
    }
    template <class Bits>
    Bits* second() {
        return reinterpret_cast<Bits*>(second_.data());
    }
    /// By the keys in the first buffer, which are in the order of the index so far.
    template <class Bits>
    void sort_first(const column_order& order) {
        if (started_) {
            radix_column<Bits>::pairs(gpu_, first<Bits>(), second<Bits>(), index_, other_.data(),
                                      n_, order);
        } else {
            radix_column<Bits>::with_index(gpu_, first<Bits>(), second<Bits>(), index_,
                                           other_.data(), n_, order);
        }
    }

    gpu_device& gpu_;
    std::size_t n_;
    Index* index_;
    buffer<std::uint64_t> first_;
    buffer<std::uint64_t> second_;
    buffer<Index> other_;
    bool started_ = false;
};

}  // namespace

void sort_keys(device& device, memory_resource& memory, void* keys, data_type type, std::size_t n,
               const sort_options& options) {
    if (n < 2) return;
    gpu_device& gpu = own(device);
    gpu.require_own(keys, "sort: keys");
    with_bits(size_of(type), [&](auto bits) {
        using Bits = decltype(bits);
        const buffer<Bits> other(memory, n);
        radix_column<Bits>::keys(gpu, static_cast<Bits*>(keys), other.data(), n,
                                 order_of(type, options));
    });
}

void sort_pairs(device& device, memory_resource& memory, void* keys, data_type type, std::size_t n,
                const sort_options& options, void* values, std::size_t value_bytes) {
    if (n < 2) return;
    gpu_device& gpu = own(device);
    gpu.require_own(keys, "sort_pairs: keys");
    gpu.require_own(values, "sort_pairs: values");
    const column_order order = order_of(type, options);
    with_bits(size_of(type), [&](auto bits) {
        using Bits = decltype(bits);
        const buffer<Bits> other(memory, n);
        const auto move = [&](auto value) {
            using Value = decltype(value);
            const buffer<Value> other_values(memory, n);
            radix_column<Bits>::pairs(gpu, static_cast<Bits*>(keys), other.data(),
                                      static_cast<Value*>(values), other_values.data(), n, order);
        };
        const auto follow = [&](auto position) {
            using Index = decltype(position);
            const buffer<Index> index(memory, n);
            {
                const buffer<Index> other_index(memory, n);
                radix_column<Bits>::with_index(gpu, static_cast<Bits*>(keys), other.data(),
                                               index.data(), other_index.data(), n, order);
            }
            const buffer<std::byte> moved(memory, n * value_bytes);
            gather_by_words(gpu, values, value_bytes, index.data(), moved.data(), n);
            cuda_check(cudaMemcpyAsync(values, moved.data(), n * value_bytes,
                                       cudaMemcpyDeviceToDevice, gpu.native_stream()),
                       "copy values");
        };
        if (value_bytes == 4) return move(std::uint32_t{});
        if (value_bytes == 8) return move(std::uint64_t{});
        if (value_bytes == 16) return move(value_of_16{});
        if (n - 1 <= UINT32_MAX) return follow(std::uint32_t{});
        follow(std::uint64_t{});
    });
}

template <class Index>
void argsort(device& device, memory_resource& memory, const void* keys, data_type type,
             const sort_options& options, std::span<Index> index) {
    if (index.empty()) return;
    gpu_device& gpu = own(device);
    gpu.require_own(keys, "argsort: keys");
    gpu.require_own(index.data(), "argsort: index");
    using kernel = kernel_index<Index>;
    with_bits(size_of(type), [&](auto bits) {
        using Bits = decltype(bits);
        const buffer<Bits> first(memory, index.size());
        const buffer<Bits> second(memory, index.size());
        const buffer<kernel> other(memory, index.size());
        radix_column<Bits>::argsort(gpu, static_cast<const Bits*>(keys), first.data(),
                                    second.data(), reinterpret_cast<kernel*>(index.data()),
                                    other.data(), index.size(), order_of(type, options));
    });
}

template <class Index>
void argsort(device& device, memory_resource& memory, std::span<const sort_key> keys,
             std::span<const std::int64_t> offsets, std::span<Index> index) {
    if (index.empty()) return;
    gpu_device& gpu = own(device);
    gpu.require_own(index.data(), "argsort: index");
    for (const sort_key& key : keys) gpu.require_own(key.data, "argsort: a key");
    using kernel = kernel_index<Index>;
    index_builder<kernel> builder(gpu, memory, reinterpret_cast<kernel*>(index.data()),
                                  index.size());
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
        if (key->string_bytes != 0) {
            builder.by_strings(key->data, key->string_bytes, key->order);
        } else {
            const int bits = 8 * static_cast<int>(size_of(key->type));
            builder.by(key->data, key->type, order_of(key->type, {key->order, 0, bits}));
        }
    }
    if (!offsets.empty()) builder.by_segments(offsets);
}

template <class Index>
std::size_t first_outside(device& device, std::span<const Index> index, std::size_t rows) {
    gpu_device& gpu = own(device);
    gpu.require_own(index.data(), "gather: index");
    const buffer<std::uint64_t> found(gpu.memory(), 1);
    std::uint64_t first = index.size();
    gpu.copy(found.data(), &first, sizeof(first));
    cuda_check(arch::launch(kernels::find_outside<Index>,
                            kernels::gather_grid(static_cast<index_t>(index.size())),
                            gpu.native_stream(), index.data(), static_cast<index_t>(index.size()),
                            std::uint64_t{rows}, found.data()),
               "launch a check of an index");
    gpu.copy(&first, found.data(), sizeof(first));
    return first;
}

template <class Index>
void gather(device& device, const void* in, std::size_t item_bytes, std::span<const Index> index,
            void* out) {
    gpu_device& gpu = own(device);
    gpu.require_own(in, "gather: in");
    gpu.require_own(out, "gather: out");
    gather_by_words(gpu, in, item_bytes, index.data(), out, index.size());
}

std::size_t sort_keys_memory(std::size_t n, std::size_t key_bytes) {
    return n * key_bytes;
}
std::size_t sort_pairs_memory(std::size_t n, std::size_t key_bytes, std::size_t value_bytes) {
    if (value_bytes >= 4) return n * (key_bytes + value_bytes);
    const std::size_t index_bytes = n == 0 || n - 1 <= UINT32_MAX ? 4 : 8;
    return n * (key_bytes + 2 * index_bytes);
}
std::size_t argsort_memory(std::size_t n) {
    return n * 3 * sizeof(std::uint64_t);
}

#define LOOKBACK_INDEX(Index)                                                                     \
    template void argsort(device&, memory_resource&, const void*, data_type, const sort_options&, \
                          std::span<Index>);                                                      \
    template void argsort(device&, memory_resource&, std::span<const sort_key>,                   \
                          std::span<const std::int64_t>, std::span<Index>);                       \
    template std::size_t first_outside(device&, std::span<const Index>, std::size_t);             \
    template void gather(device&, const void*, std::size_t, std::span<const Index>, void*)
LOOKBACK_INDEX(std::uint32_t);
LOOKBACK_INDEX(std::int64_t);
#undef LOOKBACK_INDEX

}  // namespace lookback::cuda
