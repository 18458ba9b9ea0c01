// Level L5 (device): cells: stretches of equally many ordered keys, one after the other, in which a
// sort of keys alone counts and partitions. Invariant: the cell of a key never falls as keys rise,
// also for keys outside of all cells, which count to the first or the last one.
#pragma once

#include <lookback/kernels/core/lookback.hpp>
#include <lookback/kernels/core/tile_shape.hpp>

#include <cstdint>

namespace lookback::device {

template <class Key>
struct cell_map {
    Key first;           ///< the lowest key of the first cell >> shift
    int shift;           ///< a cell has 2^shift keys
    std::uint32_t last;  ///< the last cell: their number less 1

    /// Where all keys are known to be in cells, two instructions do.
    template <bool Clamps>
    LOOKBACK_HD std::uint32_t number(Key ordered) const {
        const Key at = ordered >> shift;
        if constexpr (!Clamps) {
            return static_cast<std::uint32_t>(at) - static_cast<std::uint32_t>(first);
        } else if constexpr (sizeof(Key) <= 4) {
            const std::uint32_t from_first = (at < first ? first : at) - first;
            return from_first < last ? from_first : last;
        } else {
            if (at < first) return 0;
            const Key from_first = at - first;
            return from_first < last ? static_cast<std::uint32_t>(from_first) : last;
        }
    }
    LOOKBACK_HD bool holds(Key ordered) const {
        return static_cast<Key>((ordered >> shift) - first) <= last;
    }
    LOOKBACK_HD bool holds_all() const {
        return first == 0 && (static_cast<Key>(~Key{0}) >> shift) <= last;
    }
    /// The lowest key of a cell.
    LOOKBACK_HD Key begin(std::uint32_t cell) const {
        return static_cast<Key>(first + cell) << shift;
    }
    /// Every 2^bits cells as one.
    LOOKBACK_HD cell_map coarse(int bits) const {
        return {first >> bits, shift + bits, last >> bits};
    }
    /// The cells of one of these.
    LOOKBACK_HD cell_map fine(int bits, std::uint32_t cell) const {
        return {static_cast<Key>(first + (static_cast<Key>(cell) << bits)), shift,
                (1U << bits) - 1};
    }
};

/// 2^(bits + fine_bits) cells, so small that they just hold the keys from `lowest` to `highest`,
/// and so cut that 2^fine_bits of them make one of 2^bits. What room is left lies on both sides.
template <class Key>
LOOKBACK_HD cell_map<Key> make_cells(Key lowest, Key highest, int bits, int fine_bits) {
    const std::uint32_t last = (1U << bits) - 1;
    const Key extent = highest - lowest;
    const int width = extent == 0 ? 0 : core::highest_bit_64(extent) + 1;
    int shift = width > bits + fine_bits ? width - bits : fine_bits;
    if (static_cast<Key>((highest >> shift) - (lowest >> shift)) > last) ++shift;
    Key first = lowest >> shift;
    const Key spare = last - static_cast<Key>((highest >> shift) - first);
    first = first <= spare ? Key{0} : static_cast<Key>(first - spare / 2);
    return {static_cast<Key>(first << fine_bits), shift - fine_bits,
            (1U << (bits + fine_bits)) - 1};
}

}  // namespace lookback::device
