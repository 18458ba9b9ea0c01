// CPU backend: scan and reduce of one run of items by one thread with SIMD; what scan.cpp builds
// on. Invariant: integers, min and max give the serial result bit for bit; float sums and products
// combine inside vectors first.
#pragma once

#include <lookback/scan.hpp>

#include <cstddef>

namespace lookback::cpu {

template <class T>
struct scan_manner {
    bool exclusive;
    bool stream;     ///< write past the caches
    const T* ahead;  ///< n items that are reduced on the way, or null
};

template <class T>
struct scan_lanes {
    /// op over n >= 1 items.
    T (*reduce)(const T* in, std::size_t n);

    /// Scans n items, beginning with `before`; out is in or elsewhere. Returns op over
    /// manner.ahead: reading the next tile while this one is written hides the time of the reading.
    T (*scan)(const T* in, T* out, std::size_t n, T before, const scan_manner<T>& manner);

    /// The operator on two items, and its identity.
    T (*combine)(T earlier, T later);
    T identity;
};

/// For the machine's best instruction set. Operators that do not depend on the sign exist for
/// unsigned types alone.
template <class T>
scan_lanes<T> find_scan_lanes(scan_operator op);

}  // namespace lookback::cpu
