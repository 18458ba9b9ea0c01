// Tile words: what was written is read, and nothing else is taken for it.
#include <lookback/kernels/core/tile_word.hpp>

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace lookback::core {
namespace {

constexpr tile_state states[] = {tile_state::aggregate, tile_state::prefix, tile_state::helped};

TEST(TileWord, CountsUpTo62Bits) {
    const std::uint64_t zero = 0;
    EXPECT_EQ(count_codec::decode(&zero, 0).state, tile_state::empty);
    EXPECT_FALSE(count_codec::is_published(zero, 0));
    for (const tile_state state : states) {
        for (const std::uint64_t value :
             {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 62) - 1}) {
            const std::uint64_t word = count_codec::encode(state, 0, value, 0);
            EXPECT_EQ(count_codec::decode(&word, 0).state, state);
            EXPECT_EQ(count_codec::decode(&word, 0).value, value);
            EXPECT_TRUE(count_codec::is_published(word, 0));
        }
    }
}

template <std::size_t Bytes>
void expect_round_trip() {
    using payload = std::array<unsigned char, Bytes>;
    using codec = tagged_codec<payload>;
    static_assert(codec::words == static_cast<int>((Bytes + 3) / 4));
    payload value;
    for (std::size_t i = 0; i < Bytes; ++i) value[i] = static_cast<unsigned char>(0xf0 + i);
    for (const std::uint32_t epoch : {1U, 2U, (1U << 30) - 1}) {
        for (const tile_state state : states) {
            std::uint64_t words[codec::words];
            for (int w = 0; w < codec::words; ++w) {
                words[w] = codec::encode(state, epoch, value, w);
                EXPECT_TRUE(codec::is_published(words[w], epoch));
                EXPECT_FALSE(codec::is_published(words[w], epoch - 1));
            }
            EXPECT_EQ(codec::decode(words, epoch).state, state);
            EXPECT_EQ(codec::decode(words, epoch).value, value);
            EXPECT_EQ(codec::decode(words, epoch - 1).state, tile_state::empty);
            // Half old, half new: each single word of another state makes it unreadable.
            for (int w = 0; w < codec::words && codec::words > 1; ++w) {
                const std::uint64_t kept = words[w];
                for (const tile_state other : states) {
                    if (other == state) continue;
                    words[w] = codec::encode(other, epoch, value, w);
                    EXPECT_EQ(codec::decode(words, epoch).state, tile_state::empty);
                }
                words[w] = codec::encode(state, epoch - 1, value, w);
                EXPECT_EQ(codec::decode(words, epoch).state, tile_state::empty);
                words[w] = kept;
            }
        }
    }
}

TEST(TileWord, PayloadsOfOneToFiveWords) {
    expect_round_trip<1>();
    expect_round_trip<2>();
    expect_round_trip<4>();
    expect_round_trip<8>();
    expect_round_trip<12>();
    expect_round_trip<16>();
    expect_round_trip<20>();
}

TEST(TileWord, ZeroedMemoryIsEmptyInEveryEpoch) {
    const std::uint64_t words[2] = {};
    EXPECT_EQ(tagged_codec<std::uint64_t>::decode(words, 1).state, tile_state::empty);
}

}  // namespace
}  // namespace lookback::core
