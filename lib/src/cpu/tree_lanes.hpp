// CPU backend: one tile of the reproducible tree (kernels/core/reproducible_tree.hpp) with SIMD.
// Invariant: the same bits from every instruction set. What "nothing precedes" leaves out is the
// identity here: -0.0 and 1.0 change no bit.
#pragma once

#include <lookback/scan.hpp>

#include <cstddef>

namespace lookback::cpu {

template <class T>
struct tree_lanes {
    /// The total of one tile of n items; n <= tile_items.
    T (*total)(const T* in, std::size_t n);

    /// Scans one tile after `before`; returns its own total. out is in or elsewhere; `stream`
    /// writes past the caches.
    T (*scan)(const T* in, T* out, std::size_t n, T before, bool exclusive, bool stream);

    /// The operator on two items, and its identity.
    T (*combine)(T earlier, T later);
    T identity;
};

/// For the machine's best instruction set; op is plus or multiplies, T float or double.
template <class T>
tree_lanes<T> find_tree_lanes(scan_operator op);

}  // namespace lookback::cpu
