// CPU backend: scan of one run of items in which segments begin at marked places, with SIMD.
// Invariant: as scan_lanes.hpp for each segment by itself.
#pragma once

#include <lookback/scan.hpp>

#include <cstddef>
#include <cstdint>

namespace lookback::cpu {

template <class T>
struct segmented_manner {
    T before;  ///< what precedes item 0, where that is no head
    T start;   ///< what every segment begins with
    bool exclusive;
    bool stream;  ///< write past the caches
};

/// Scans n items; bit i of heads tells whether item i begins a segment. heads has at least
/// n + 128 bits. out is in or elsewhere. Returns what follows the last item: its inclusive result.
template <class T>
using segmented_scan_function = T (*)(const T* in, T* out, std::size_t n,
                                      const std::uint64_t* heads,
                                      const segmented_manner<T>& manner);

/// For the machine's best instruction set; types and operators as find_scan_lanes().
template <class T>
segmented_scan_function<T> find_segmented_scan(scan_operator op);

}  // namespace lookback::cpu
