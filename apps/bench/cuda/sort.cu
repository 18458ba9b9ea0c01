// lookback-bench-cuda-sort [LOG2_ITEMS [REPEATS [FILTER]]]: radix sorts on one GPU against CUB, in
// one process; every result is compared with CUB's. Prints a table.
#include "bench/cuda/cub_sort_peer.hpp"
#include "bench/cuda/timing.cuh"

#include <lookback/kernels/device/radix_sort.cuh>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>

namespace lookback::bench {
namespace {

using core::index_t;

enum class shape {
    uniform,
    and_of_five,  ///< each bit set once in 32
    zipf,         ///< value r with a probability of about 1 / r, scattered over the range
    few_values,   ///< 16 values
    all_equal,
    low_bits,   ///< 20 live bits at the bottom
    high_bits,  ///< 20 live bits at the top
    half_one_value,
    sorted,
    reversed,
    almost_sorted,
    sawtooth,  ///< rows of 4096 ascending keys
    fraction,  ///< floats in [0, 1)
};

__device__ std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

template <class Key>
__global__ void fill(Key* keys, index_t n, shape kind) {
    constexpr int width = 8 * sizeof(Key);
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        const auto place = static_cast<std::uint64_t>(i);
        const std::uint64_t random = scramble(place);
        const std::uint64_t ramp = place * (~std::uint64_t{0} / static_cast<std::uint64_t>(n + 1));
        std::uint64_t key = random;
        switch (kind) {
            case shape::uniform:
                break;
            case shape::and_of_five:
                for (int k = 1; k < 5; ++k) key &= scramble(random + k);
                break;
            case shape::zipf: {
                const double u = static_cast<double>(random >> 11) * 0x1p-53;
                key = scramble(static_cast<std::uint64_t>(exp(u * 18.0)));
                break;
            }
            case shape::few_values:
                key = scramble(random % 16);
                break;
            case shape::all_equal:
                key = 42;
                break;
            case shape::low_bits:
                key = (random >> 44) << (64 - width);
                break;
            case shape::high_bits:
                key = random >> 44 << 44;
                break;
            case shape::half_one_value:
                key = (random & 1) != 0 ? 0x5555555555555555ULL : scramble(random);
                break;
            case shape::sorted:
                key = ramp;
                break;
            case shape::reversed:
                key = ~ramp;
                break;
            case shape::almost_sorted:
                key = random % 1000 == 0 ? scramble(random) : ramp;
                break;
            case shape::sawtooth:
                key = (place & 4095) << 52 | random >> 12;
                break;
            case shape::fraction: {
                const float f = static_cast<float>(random >> 40) * 0x1p-24F;
                std::uint32_t bits;
                memcpy(&bits, &f, sizeof(bits));
                key = std::uint64_t{bits} << 32;
                break;
            }
        }
        const auto shifted = static_cast<Key>(key >> (64 - width));
        keys[i] =
            kind == shape::all_equal || kind == shape::few_values ? static_cast<Key>(key) : shifted;
    }
}

template <class Value>
__global__ void fill_values(Value* values, index_t n) {
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < n;
         i += index_t{gridDim.x} * blockDim.x) {
        values[i] = static_cast<Value>(i);
    }
}

__global__ void count_unlike(const std::uint32_t* a, const std::uint32_t* b, index_t words,
                             unsigned long long* unlike) {
    unsigned long long count = 0;
    for (index_t i = blockIdx.x * index_t{blockDim.x} + threadIdx.x; i < words;
         i += index_t{gridDim.x} * blockDim.x) {
        count += a[i] != b[i];
    }
    if (count != 0) atomicAdd(unlike, count);
}

class arena {
public:
    explicit arena(index_t most) : array_bytes(static_cast<std::size_t>(most) * 8 + 64) {
        for (void** block : {&in, &keys, &other, &third, &values, &other_values, &peer_keys,
                             &peer_values, &positions}) {
            check(cudaMalloc(block, array_bytes), "allocate");
        }
        workspace.bytes = device::radix_workspace_bytes<std::uint32_t, std::uint32_t>(2 * most);
        check(cudaMalloc(&workspace.memory, workspace.bytes), "allocate");
        check(cudaMalloc(&peer_memory, peer_bytes), "allocate");
        check(cudaMalloc(&unlike, sizeof(*unlike)), "allocate");
        check(cudaMemset(unlike, 0, sizeof(*unlike)), "clear");
        check(cudaStreamCreate(&stream), "stream");
        check(device::prepare(workspace, stream), "prepare");
    }

    void compare(const void* a, const void* b, std::size_t bytes) const {
        count_unlike<<<1024, 256, 0, stream>>>(static_cast<const std::uint32_t*>(a),
                                               static_cast<const std::uint32_t*>(b),
                                               static_cast<index_t>(bytes / 4), unlike);
    }
    unsigned long long differences() const {
        unsigned long long count = 0;
        check(cudaMemcpyAsync(&count, unlike, sizeof(count), cudaMemcpyDefault, stream), "compare");
        check(cudaMemsetAsync(unlike, 0, sizeof(count), stream), "clear");
        check(cudaStreamSynchronize(stream), "compare");
        return count;
    }
    /// Median time of work alone, after an untimed restore before each run.
    double median(int repeats, const std::function<void()>& restore,
                  const std::function<void()>& work) const {
        cudaEvent_t begin;
        cudaEvent_t end;
        check(cudaEventCreate(&begin), "event");
        check(cudaEventCreate(&end), "event");
        std::vector<float> times;
        for (int i = -2; i < repeats; ++i) {
            restore();
            check(cudaEventRecord(begin, stream), "record");
            work();
            check(cudaEventRecord(end, stream), "record");
            check(cudaEventSynchronize(end), "run");
            float ms = 0;
            check(cudaEventElapsedTime(&ms, begin, end), "time");
            if (i >= 0) times.push_back(ms);
        }
        cudaEventDestroy(begin);
        cudaEventDestroy(end);
        std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
        return times[static_cast<std::size_t>(repeats / 2)];
    }

    std::size_t array_bytes;
    void* in = nullptr;
    void* keys = nullptr;
    void* other = nullptr;
    void* third = nullptr;
    void* values = nullptr;
    void* other_values = nullptr;
    void* peer_keys = nullptr;
    void* peer_values = nullptr;
    void* positions = nullptr;
    void* peer_memory = nullptr;
    static constexpr std::size_t peer_bytes = std::size_t{6} << 30;
    device::radix_workspace workspace;
    unsigned long long* unlike = nullptr;
    cudaStream_t stream = nullptr;
};

struct options {
    int log2_items = 28;
    int repeats = 11;
    std::string filter;
};

template <class Key>
device::radix_order<Key> plain_order(bool floating) {
    return {core::make_key_order<Key>(
        floating ? core::key_kind::floating : core::key_kind::unsigned_integer, false, false)};
}

template <class PeerKey, class PeerValue>
double peer_ms(const arena& a, index_t n, int repeats, bool with_values) {
    double best = 1e9;
    for (const bool wide : {false, true}) {
        std::size_t bytes = 0;
        const auto run = [&](void* memory) {
            check(
                cub_sort<PeerKey, PeerValue>::run(
                    wide, memory, bytes, static_cast<const PeerKey*>(a.in),
                    static_cast<PeerKey*>(a.peer_keys),
                    with_values ? static_cast<const PeerValue*>(a.positions) : nullptr,
                    static_cast<PeerValue*>(a.peer_values), static_cast<std::size_t>(n), a.stream),
                "CUB");
        };
        run(nullptr);
        if (bytes > a.peer_bytes) check(cudaErrorMemoryAllocation, "CUB's memory");
        best = std::min(best, a.median(
                                  repeats, [] {}, [&] { run(a.peer_memory); }));
    }
    return best;
}

void print(const std::string& name, index_t n, double ms, double peer, double copy,
           unsigned long long wrong) {
    std::printf("| %-34s | %9.4f | %9.4f | %5.2f | %7.2f | %6.2f |%s\n", name.c_str(), ms, peer,
                peer / ms, static_cast<double>(n) / ms * 1e-6, copy / ms,
                wrong != 0 ? (" WRONG: " + std::to_string(wrong) + " words").c_str() : "");
}

double copy_ms(const arena& a, std::size_t bytes, int repeats) {
    return a.median(
        repeats, [] {},
        [&] {
            check(cudaMemcpyAsync(a.other, a.in, bytes, cudaMemcpyDeviceToDevice, a.stream),
                  "copy");
        });
}

template <class Key, class PeerKey = Key>
void keys_row(const arena& a, const options& how, const std::string& what, int log2_items,
              shape kind) {
    const std::string name = what + (log2_items != 28 ? ", 2^" + std::to_string(log2_items) : "");
    if (name.find(how.filter) == std::string::npos) return;
    const index_t n = index_t{1} << log2_items;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(Key);
    fill<<<2048, 256, 0, a.stream>>>(static_cast<Key*>(a.in), n, kind);
    const double peer = peer_ms<PeerKey, no_payload>(a, n, how.repeats, false);
    const auto order = plain_order<Key>(std::is_floating_point_v<PeerKey>);
    const double ms = a.median(
        how.repeats,
        [&] {
            check(cudaMemcpyAsync(a.keys, a.in, bytes, cudaMemcpyDefault, a.stream), "restore");
        },
        [&] {
            check(device::sort_keys(a.workspace, static_cast<Key*>(a.keys),
                                    static_cast<Key*>(a.other), n, order, a.stream),
                  "sort_keys");
        });
    a.compare(a.keys, a.peer_keys, bytes);
    const unsigned long long wrong = a.differences();
    print(name, n, ms, peer, copy_ms(a, bytes, how.repeats), wrong);
}

template <class Key, class Value>
void pairs_row(const arena& a, const options& how, const std::string& what, int log2_items,
               shape kind, bool index) {
    const std::string name = what + (log2_items != 28 ? ", 2^" + std::to_string(log2_items) : "");
    if (name.find(how.filter) == std::string::npos) return;
    const index_t n = index_t{1} << log2_items;
    const std::size_t key_bytes = static_cast<std::size_t>(n) * sizeof(Key);
    const std::size_t value_bytes = static_cast<std::size_t>(n) * sizeof(Value);
    fill<<<2048, 256, 0, a.stream>>>(static_cast<Key*>(a.in), n, kind);
    fill_values<<<2048, 256, 0, a.stream>>>(static_cast<Value*>(a.positions), n);
    const double peer = peer_ms<Key, Value>(a, n, how.repeats, true);
    const auto order = plain_order<Key>(false);
    const auto restore = [&] {
        if (index) return;
        check(cudaMemcpyAsync(a.keys, a.in, key_bytes, cudaMemcpyDefault, a.stream), "restore");
        check(cudaMemcpyAsync(a.values, a.positions, value_bytes, cudaMemcpyDefault, a.stream),
              "restore");
    };
    const double ms = a.median(how.repeats, restore, [&] {
        auto* keys = static_cast<Key*>(a.keys);
        auto* other = static_cast<Key*>(a.other);
        auto* values = static_cast<Value*>(a.values);
        auto* other_values = static_cast<Value*>(a.other_values);
        check(index ? device::argsort(a.workspace, static_cast<const Key*>(a.in), keys, other,
                                      values, other_values, n, order, a.stream)
                    : device::sort_pairs(a.workspace, keys, other, values, other_values, n, order,
                                         a.stream),
              "sort_pairs");
    });
    if (!index) a.compare(a.keys, a.peer_keys, key_bytes);
    a.compare(a.values, a.peer_values, value_bytes);
    const unsigned long long wrong = a.differences();
    print(name, n, ms, peer, copy_ms(a, std::max(key_bytes, value_bytes), how.repeats), wrong);
}

void all(const arena& a, const options& how) {
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    const int log2 = how.log2_items;
    std::printf("\n| %-34s | %9s | %9s | %5s | %7s | %6s |\n|---|---|---|---|---|---|\n", "sort",
                "ms", "CUB ms", "x", "G/s", "of copy");
    struct case_of {
        const char* name;
        shape kind;
    };
    constexpr case_of cases[] = {{"uniform", shape::uniform},
                                 {"and of five", shape::and_of_five},
                                 {"zipf", shape::zipf},
                                 {"16 values", shape::few_values},
                                 {"all equal", shape::all_equal},
                                 {"20 low bits", shape::low_bits},
                                 {"20 high bits", shape::high_bits},
                                 {"half one value", shape::half_one_value},
                                 {"sorted", shape::sorted},
                                 {"reversed", shape::reversed},
                                 {"almost sorted", shape::almost_sorted},
                                 {"sawtooth", shape::sawtooth}};
    for (const auto& [name, kind] : cases) {
        keys_row<u32>(a, how, std::string("u32 ") + name, log2, kind);
    }
    keys_row<u32, float>(a, how, "f32 in [0, 1)", log2, shape::fraction);
    for (const auto& [name, kind] : cases) {
        keys_row<u64>(a, how, std::string("u64 ") + name, log2, kind);
    }
    for (const auto& [name, kind] : cases) {
        pairs_row<u32, u32>(a, how, std::string("u32/u32 ") + name, log2, kind, false);
    }
    pairs_row<u32, u64>(a, how, "u32/u64 uniform", log2, shape::uniform, false);
    pairs_row<u64, u32>(a, how, "u64/u32 uniform", log2, shape::uniform, false);
    pairs_row<u64, u64>(a, how, "u64/u64 uniform", log2, shape::uniform, false);
    pairs_row<u32, u32>(a, how, "argsort u32", log2, shape::uniform, true);
    pairs_row<u64, u32>(a, how, "argsort u64", log2, shape::uniform, true);
    for (const int small : {12, 16, 18, 20, 22, 24, 26}) {
        if (small >= log2) break;
        keys_row<u32>(a, how, "u32 uniform", small, shape::uniform);
        keys_row<u64>(a, how, "u64 uniform", small, shape::uniform);
        pairs_row<u32, u32>(a, how, "u32/u32 uniform", small, shape::uniform, false);
    }
}

}  // namespace
}  // namespace lookback::bench

int main(int argc, char** argv) {
    using namespace lookback::bench;
    options how;
    if (argc > 1) how.log2_items = std::atoi(argv[1]);
    if (argc > 2) how.repeats = std::atoi(argv[2]);
    if (argc > 3) how.filter = argv[3];
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0), "device");
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("%s, CUDA %d; medians of %d by events, CUB by the faster type of its item count\n",
                device.name, CUDART_VERSION, how.repeats);
    const arena a(lookback::core::index_t{1} << how.log2_items);
    warm_up(a.stream, 0.4, [&](cudaStream_t s) {
        check(cudaMemcpyAsync(a.other, a.in, a.array_bytes / 2, cudaMemcpyDeviceToDevice, s),
              "copy");
    });
    all(a, how);
}
