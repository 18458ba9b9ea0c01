// CPU backend, compiled once a SIMD target: quicksort of keys that fit the caches.
// Invariant: a range lives in one of two arrays and has its equal share of the other as spare room,
// so a partition writes one side in place and the other out of place, and nothing is moved twice.
// Source: Blacher, Giesen and Kuehne (2022) for the idea; the two-array partition is our own.
#if defined(LOOKBACK_VECTOR_SORT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_VECTOR_SORT_INL
#undef LOOKBACK_VECTOR_SORT_INL
#else
#define LOOKBACK_VECTOR_SORT_INL
#endif

#include "cpu/vector_network-inl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

/// Sorts data[0, n) in place; spare has room for n keys.
template <class D>
void sort_in_cache(D /*d*/, hn::TFromD<D>* data, hn::TFromD<D>* /*spare*/, std::size_t n) {
    std::sort(data, data + n);
}

/// Sorts a few keys from `in` to `out`, which may be the same place.
template <class D>
void sort_few(D /*d*/, const hn::TFromD<D>* in, std::size_t count, hn::TFromD<D>* out) {
    if (out != in) std::copy(in, in + count, out);
    std::sort(out, out + count);
}

#else

#if HWY_TARGET == HWY_AVX2
/// For each mask of 8 lanes, the positions of its set bits, then of the others.
inline constexpr auto compress_positions = [] {
    std::array<std::array<std::uint8_t, 8>, 256> table{};
    for (unsigned mask = 0; mask < 256; ++mask) {
        unsigned next = 0;
        for (const unsigned wanted : {1U, 0U}) {
            for (unsigned lane = 0; lane < 8; ++lane) {
                if ((mask >> lane & 1) == wanted) {
                    table[mask][next++] = static_cast<std::uint8_t>(lane);
                }
            }
        }
    }
    return table;
}();
#endif

/// The lanes of v where `keep` holds, moved to the front; what follows them has no meaning.
/// hn::Compress() is the same but copies its tables to the stack each time with g++ 12.
template <class D>
HWY_INLINE hn::Vec<D> compress_lanes([[maybe_unused]] D d, hn::Vec<D> v, hn::Mask<D> keep) {
#if HWY_TARGET == HWY_AVX2
    // Lanes of 8 bytes are pairs of lanes of 4: mask bits come twice.
    const hn::Repartition<std::uint32_t, D> words;
    const hn::Rebind<std::uint8_t, decltype(words)> bytes;
    const auto mask = _mm256_movemask_ps(_mm256_castsi256_ps(hn::VecFromMask(d, keep).raw));
    const auto positions = hn::Load(bytes, compress_positions[static_cast<unsigned>(mask)].data());
    return hn::BitCast(
        d, hn::TableLookupLanes(hn::BitCast(words, v),
                                hn::IndicesFromVec(words, hn::PromoteTo(words, positions))));
#elif HWY_TARGET == HWY_AVX3
    if constexpr (sizeof(hn::TFromD<D>) == 8) {
        return hn::Vec<D>{_mm512_maskz_compress_epi64(keep.raw, v.raw)};
    } else {
        return hn::Compress(v, keep);
    }
#else
    return hn::Compress(v, keep);
#endif
}

/// Where the two sides of a partition go: `in_place` may be where the keys come from.
template <class T>
struct partition_sides {
    T* left;
    T* right;
};

/// Keys < bound to sides.left, the others to sides.right, both from their front. Returns how many
/// went left. One side may be `in` itself; the other has room for n keys.
template <class D>
HWY_INLINE std::size_t split_keys(D d, const hn::TFromD<D>* in, std::size_t n, hn::TFromD<D> bound,
                                  partition_sides<hn::TFromD<D>> sides) {
    constexpr std::size_t lanes = lanes_of<D>;
    constexpr std::size_t unroll = 4;
    const auto limit = hn::Set(d, bound);
    auto* left = sides.left;
    auto* right = sides.right;
    // A full vector ends at most where the input was read, so garbage behind it hits nothing live.
    const auto split = [&](hn::Vec<D> v) HWY_ATTR __attribute__((always_inline)) {
        const auto less = hn::Lt(v, limit);
        const std::size_t count = hn::CountTrue(d, less);
        hn::StoreU(compress_lanes(d, v, less), d, left);
        hn::StoreU(compress_lanes(d, v, hn::Not(less)), d, right);
        left += count;
        right += lanes - count;
    };
    std::size_t i = 0;
    for (; i + unroll * lanes <= n; i += unroll * lanes) {
        const auto a = hn::LoadU(d, in + i);
        const auto b = hn::LoadU(d, in + i + lanes);
        const auto c = hn::LoadU(d, in + i + 2 * lanes);
        const auto e = hn::LoadU(d, in + i + 3 * lanes);
        split(a);
        split(b);
        split(c);
        split(e);
    }
    for (; i + lanes <= n; i += lanes) split(hn::LoadU(d, in + i));
    if (i < n) {
        const auto valid = hn::FirstN(d, n - i);
        const auto v = hn::MaskedLoad(valid, d, in + i);
        const auto less = hn::And(valid, hn::Lt(v, limit));
        const std::size_t count = hn::CountTrue(d, less);
        hn::BlendedStore(compress_lanes(d, v, less), hn::FirstN(d, count), d, left);
        hn::BlendedStore(compress_lanes(d, v, hn::AndNot(less, valid)),
                         hn::FirstN(d, n - i - count), d, right);
        left += count;
    }
    return static_cast<std::size_t>(left - sides.left);
}

/// A bound that leaves keys on both sides, or the news that all keys are equal.
template <class T>
struct split_choice {
    T bound;
    bool all_equal;
};

/// All keys that were looked at equal `value`: looks at the others.
template <class D>
HWY_NOINLINE split_choice<hn::TFromD<D>> split_near_equal(D d, const hn::TFromD<D>* keys,
                                                          std::size_t n, hn::TFromD<D> value) {
    constexpr std::size_t lanes = lanes_of<D>;
    const auto same = hn::Set(d, value);
    std::size_t i = 0;
    while (i + lanes <= n && hn::AllTrue(d, hn::Eq(hn::LoadU(d, keys + i), same))) i += lanes;
    while (i < n && keys[i] == value) ++i;
    if (i == n) return {value, true};
    return {keys[i] > value ? static_cast<hn::TFromD<D>>(value + 1) : value, false};
}

/// The median of Rows vectors. They come from places spread evenly, with an offset that differs
/// from call to call, so that no fixed pattern of the input misleads every level.
template <int Rows, class D>
HWY_NOINLINE split_choice<hn::TFromD<D>> choose_split(D d, const hn::TFromD<D>* keys, std::size_t n,
                                                      std::uint64_t& random) {
    using T = hn::TFromD<D>;
    constexpr std::size_t lanes = lanes_of<D>;
    constexpr std::size_t samples = Rows * lanes;
    alignas(64) T sample[samples];
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::size_t stride = (n - lanes) / Rows;
    const std::size_t offset = ((random >> 40) * stride) >> 24;
    for (std::size_t row = 0; row < Rows; ++row) {
        hn::Store(hn::LoadU(d, keys + row * stride + offset), d, sample + row * lanes);
    }
    sort_rows<Rows>(d, sample, samples, sample);
    const T median = sample[samples / 2];
    if (median != sample[0]) return {median, false};
    if (median != sample[samples - 1]) return {static_cast<T>(median + 1), false};
    return split_near_equal(d, keys, n, median);
}

/// Sorts data[0, n), with spare[0, n) as room, into spare if to_spare, else in place. After
/// `levels` partitions a heap sort takes over, so hostile input costs no more than n log n.
template <class D>
void sort_range(D d, hn::TFromD<D>* data, hn::TFromD<D>* spare, std::size_t n, bool to_spare,
                int levels, std::uint64_t& random) {
    using T = hn::TFromD<D>;
    while (n > few_keys<D>) {
        if (levels-- == 0) {
            std::make_heap(data, data + n);
            std::sort_heap(data, data + n);
            if (to_spare) std::memcpy(spare, data, n * sizeof(T));
            return;
        }
        const auto choice = n < 8 * few_keys<D> ? choose_split<2>(d, data, n, random)
                                                : choose_split<8>(d, data, n, random);
        if (choice.all_equal) {
            if (to_spare) std::memcpy(spare, data, n * sizeof(T));
            return;
        }
        // The side that comes first in the target is the one that is written to the target.
        if (to_spare) {
            const std::size_t left = split_keys(d, data, n, choice.bound, {spare, data});
            sort_range(d, spare, data + (n - left), left, false, levels, random);
            spare += left;
            n -= left;
        } else {
            const std::size_t left = split_keys(d, data, n, choice.bound, {data, spare});
            sort_range(d, data, spare + (n - left), left, false, levels, random);
            // The right side: from spare to its place behind the left side.
            std::swap(data, spare);
            spare += left;
            n -= left;
            to_spare = true;
        }
    }
    sort_few(d, data, n, to_spare ? spare : data);
}

/// Sorts data[0, n) in place; spare has room for n keys.
template <class D>
void sort_in_cache(D d, hn::TFromD<D>* data, hn::TFromD<D>* spare, std::size_t n) {
    std::uint64_t random = n;
    sort_range(d, data, spare, n, false, 2 * static_cast<int>(std::bit_width(n)), random);
}

#endif  // not HWY_SCALAR

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
