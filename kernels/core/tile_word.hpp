// Level L0 (core): the 64-bit words through which a tile tells its state and value.
// Invariant: state and value travel in the same word, so no reader can see one without the other;
// a payload of several words counts only when all of its words carry the same tag.
// Source: Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back"
// (2016), 4.
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstring>

namespace lookback::core {

enum class tile_state : std::uint32_t {
    empty = 0,      ///< nothing published yet
    aggregate = 1,  ///< the combination of the tile's own items, by its owner
    prefix = 2,     ///< the combination of all items up to the tile's end
    helped = 3,     ///< the tile's aggregate, computed by a waiting block in its place
};

/// What a reader learned from one slot.
template <class T>
struct tile_message {
    tile_state state;
    T value;
};

/// Counts up to 2^62 - 1 in one word: 2 bits of state, 62 of value. The slot must be zeroed
/// before each use; the epoch is ignored.
struct count_codec {
    using value_type = std::uint64_t;
    static constexpr int words = 1;
    static constexpr bool uses_epoch = false;

    LOOKBACK_HD static constexpr std::uint64_t encode(tile_state state, std::uint32_t /*epoch*/,
                                                      value_type value, int /*word*/) {
        return static_cast<std::uint64_t>(state) << 62 | value;
    }
    LOOKBACK_HD static constexpr tile_message<value_type> decode(const std::uint64_t* slot,
                                                                 std::uint32_t /*epoch*/) {
        return {static_cast<tile_state>(slot[0] >> 62), slot[0] & ~(std::uint64_t{3} << 62)};
    }
    /// Whether one word of a slot was written in this use of it.
    LOOKBACK_HD static constexpr bool is_published(std::uint64_t word, std::uint32_t /*epoch*/) {
        return word != 0;
    }
};

/// Any trivially copyable payload in words of 32 bits of payload under a 32-bit tag. The tag is
/// epoch * 4 + state: a word of another epoch reads as empty, so slots are reused without a reset
/// as long as each use has an epoch of its own in [1, 2^30). `helped` differs from `aggregate`, so
/// a helper's words are never taken together with the owner's.
template <class T>
struct tagged_codec {
    using value_type = T;
    static constexpr int words = (sizeof(T) + 3) / 4;
    static constexpr bool uses_epoch = true;

    LOOKBACK_HD static constexpr std::uint32_t tag(tile_state state, std::uint32_t epoch) {
        return epoch << 2 | static_cast<std::uint32_t>(state);
    }
    LOOKBACK_HD static std::uint64_t encode(tile_state state, std::uint32_t epoch, const T& value,
                                            int word) {
        std::uint32_t slice[words] = {};
        memcpy(slice, &value, sizeof(T));
        return static_cast<std::uint64_t>(tag(state, epoch)) << 32 | slice[word];
    }
    LOOKBACK_HD static tile_message<T> decode(const std::uint64_t* slot, std::uint32_t epoch) {
        std::uint32_t slice[words];
        const auto first = static_cast<std::uint32_t>(slot[0] >> 32);
        bool whole = first >> 2 == epoch;
        for (int word = 0; word < words; ++word) {
            whole = whole && static_cast<std::uint32_t>(slot[word] >> 32) == first;
            slice[word] = static_cast<std::uint32_t>(slot[word]);
        }
        tile_message<T> message{whole ? static_cast<tile_state>(first & 3) : tile_state::empty, {}};
        memcpy(&message.value, slice, sizeof(T));
        return message;
    }
    /// Whether one word of a slot was written in this use of it.
    LOOKBACK_HD static constexpr bool is_published(std::uint64_t word, std::uint32_t epoch) {
        return static_cast<std::uint32_t>(word >> 34) == epoch;
    }
};

}  // namespace lookback::core
