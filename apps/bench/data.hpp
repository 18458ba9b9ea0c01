// lookback-bench: seeded inputs, and the checks that every output passes.
// Invariant: an item depends on its position and seed alone, so any number of threads makes the
// same. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014), the
// mixer.
#pragma once

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

namespace lookback::bench {

constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

/// In [0, 1), of 53 bits.
inline double unit(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// Standard normal from one position's two words (Box and Muller).
inline double normal(std::uint64_t bits) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit(bits)));
    return radius * std::cos(6.283185307179586 * unit(mix(bits)));
}

/// items[i] = make(i, random word of i), on every core.
template <class T, class Make>
void fill(std::span<T> items, const Make& make) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, items.size(), 1 << 16),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                          for (std::size_t i = range.begin(); i != range.end(); ++i) {
                              items[i] = make(i, mix(i + 2026));
                          }
                      });
}

/// The bits of an item, widened: what checks compare, so that -0.0 is not +0.0.
template <class T>
std::uint64_t bits_of(const T& item) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &item, sizeof(T));
    return bits;
}

/// digest = sum over items of mix(of(i)): equal for permutations; sorted = in_order(i - 1, i) held.
struct finding {
    std::uint64_t digest = 0;
    bool sorted = true;
};

template <class Of, class InOrder>
finding inspect(std::size_t n, const Of& of, const InOrder& in_order) {
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(0, n, 1 << 16), finding{},
        [&](const tbb::blocked_range<std::size_t>& range, finding found) {
            for (std::size_t i = range.begin(); i != range.end(); ++i) {
                found.digest += mix(of(i));
                if (i != 0 && !in_order(i - 1, i)) found.sorted = false;
            }
            return found;
        },
        [](const finding& a, const finding& b) {
            return finding{a.digest + b.digest, a.sorted && b.sorted};
        });
}

inline void require(bool right, const std::string& what) {
    if (!right) throw std::runtime_error("wrong output: " + what);
}

/// Plain copy by `threads` threads, each a half, third, ... of the bytes.
void copy_bytes(void* to, const void* from, std::size_t bytes, int threads);

}  // namespace lookback::bench
