// Level L0 (core): the words through which a tile of a radix sort tells how many items of each
// digit it holds: two digits a word, so that a tile costs 4 bytes a digit. Invariant: counts stay
// below 2^30 within one launch; a word of another turn reads as empty, so that passes reuse the
// words of the pass before without a reset. Source: Adinets and Merrill, "Onesweep" (2022), 3.
#pragma once

#include <lookback/kernels/core/tile_word.hpp>

namespace lookback::core {

/// Counts of an even digit and of the one after it.
struct digit_pair {
    std::uint32_t even;
    std::uint32_t odd;
};

struct plus_pair {
    LOOKBACK_HD constexpr digit_pair operator()(digit_pair earlier, digit_pair later) const {
        return {earlier.even + later.even, earlier.odd + later.odd};
    }
};

/// Turns are 1, 2, 3, 1, ...: every launch overwrites the words of all its tiles, so what it may
/// find beyond them is at most two turns old. Words are zeroed before the first turn.
inline constexpr std::uint32_t digit_turns = 3;

struct digit_pair_codec {
    using value_type = digit_pair;
    static constexpr int words = 1;
    static constexpr bool uses_epoch = true;
    static constexpr int count_bits = 30;
    static constexpr std::uint32_t count_mask = (std::uint32_t{1} << count_bits) - 1;

    LOOKBACK_HD static constexpr std::uint64_t encode(tile_state state, std::uint32_t turn,
                                                      const value_type& value, int /*word*/) {
        const std::uint32_t tag = turn << 2 | static_cast<std::uint32_t>(state);
        return static_cast<std::uint64_t>(tag) << (2 * count_bits) |
               static_cast<std::uint64_t>(value.odd) << count_bits | value.even;
    }
    LOOKBACK_HD static constexpr tile_message<value_type> decode(const std::uint64_t* slot,
                                                                 std::uint32_t turn) {
        const auto tag = static_cast<std::uint32_t>(slot[0] >> (2 * count_bits));
        return {tag >> 2 == turn ? static_cast<tile_state>(tag & 3) : tile_state::empty,
                {static_cast<std::uint32_t>(slot[0]) & count_mask,
                 static_cast<std::uint32_t>(slot[0] >> count_bits) & count_mask}};
    }
    LOOKBACK_HD static constexpr bool is_published(std::uint64_t word, std::uint32_t turn) {
        return static_cast<std::uint32_t>(word >> (2 * count_bits + 2)) == turn;
    }
};

}  // namespace lookback::core
