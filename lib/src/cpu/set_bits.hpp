// CPU backend: for each value of a byte the positions of its set bits, as permutations need them.
// Invariant: one byte a position, ascending from the least significant byte; the rest is 0.
#pragma once

#include <array>
#include <cstdint>

namespace lookback::cpu {

struct set_bit_table {
    std::array<std::uint64_t, 256> bytes{};
};

/// Of eight bits.
inline constexpr set_bit_table set_bits = [] {
    set_bit_table table;
    for (unsigned mask = 0; mask < 256; ++mask) {
        int place = 0;
        for (unsigned bit = 0; bit < 8; ++bit) {
            if ((mask >> bit & 1U) != 0) table.bytes[mask] |= std::uint64_t{bit} << 8 * place++;
        }
    }
    return table;
}();

/// Of four bits, each of which stands for a pair: 2 i and 2 i + 1.
inline constexpr set_bit_table set_pairs = [] {
    set_bit_table table;
    for (unsigned mask = 0; mask < 16; ++mask) {
        int place = 0;
        for (unsigned bit = 0; bit < 4; ++bit) {
            if ((mask >> bit & 1U) == 0) continue;
            table.bytes[mask] |= std::uint64_t{2 * bit} << 8 * place++;
            table.bytes[mask] |= std::uint64_t{2 * bit + 1} << 8 * place++;
        }
    }
    return table;
}();

}  // namespace lookback::cpu
