// Level L0 (core): the decoupled look-back protocol: publish, wait, walk. Written once; scan,
// segmented scan, compaction, radix digits, run lengths and CSR offsets call it on both backends.
// Invariant: a walk returns op over the values of all earlier tiles, in order, whatever the timing.
// Source: Merrill and Garland (2016), 4; helping: Smith, Levien and Owens, "Decoupled fallback"
// (2025).
#pragma once

#include <lookback/kernels/core/tile_word.hpp>

namespace lookback::core {

// An access policy is a type with these static functions on 64-bit words shared between tiles:
//   store(word*, value) -> old   publish; an atomic exchange (a plain store is slower on GPUs)
//   load(word*) -> value         relaxed and atomic
//   store_pair(word*, first, second) -> old first, load_pair(word*, words[2])
//                                optional: two neighbouring words (16-byte aligned) by one access
//   pause(polls)                 called between empty polls
//   install(word*, expected, desired) -> bool    compare-and-swap; needed only where tiles help
// Relaxed order suffices: everything that a reader uses is inside the words themselves.

/// The slots of all tiles: `stride` words apart, so that many walks can interleave their slots.
struct slot_array {
    std::uint64_t* words;
    index_t stride;

    LOOKBACK_HD constexpr std::uint64_t* slot(index_t tile) const { return words + tile * stride; }
};

template <class Access, int Words>
inline constexpr bool in_pairs = Words % 2 == 0 && requires(std::uint64_t* word) {
    Access::store_pair(word, std::uint64_t{}, std::uint64_t{});
};

/// Tells the value of `tile` to all later tiles. Tile 0 publishes `prefix` at once. Returns the
/// first word that was there before: who waits for it knows that the tile's own word is in place.
template <class Codec, class Access>
LOOKBACK_HD std::uint64_t publish(slot_array slots, index_t tile, std::uint32_t epoch,
                                  tile_state state, const typename Codec::value_type& value) {
    std::uint64_t* slot = slots.slot(tile);
    std::uint64_t displaced = 0;
    if constexpr (in_pairs<Access, Codec::words>) {
        for (int word = 0; word < Codec::words; word += 2) {
            const std::uint64_t old =
                Access::store_pair(slot + word, Codec::encode(state, epoch, value, word),
                                   Codec::encode(state, epoch, value, word + 1));
            if (word == 0) displaced = old;
        }
    } else {
        for (int word = 0; word < Codec::words; ++word) {
            const std::uint64_t old =
                Access::store(slot + word, Codec::encode(state, epoch, value, word));
            if (word == 0) displaced = old;
        }
    }
    return displaced;
}

/// What one poll of a slot shows; torn and stale slots read as empty.
template <class Codec, class Access>
LOOKBACK_HD tile_message<typename Codec::value_type> poll(slot_array slots, index_t tile,
                                                          std::uint32_t epoch) {
    std::uint64_t words[Codec::words];
    std::uint64_t* slot = slots.slot(tile);
    if constexpr (in_pairs<Access, Codec::words>) {
        for (int word = 0; word < Codec::words; word += 2) {
            Access::load_pair(slot + word, words + word);
        }
    } else {
        for (int word = 0; word < Codec::words; ++word) words[word] = Access::load(slot + word);
    }
    return Codec::decode(words, epoch);
}

/// Publishes `value` in the place of a tile that is late; true if this call installed it. Where the
/// owner was first its words stand and this value is dropped. Helpers of one tile must compute the
/// same bits: then each completes what another one began, and nobody waits for a stopped helper.
template <class Codec, class Access>
LOOKBACK_HD bool install(slot_array slots, index_t tile, std::uint32_t epoch,
                         const typename Codec::value_type& value) {
    std::uint64_t* slot = slots.slot(tile);
    bool installed = false;
    for (int word = 0; word < Codec::words; ++word) {
        const std::uint64_t desired = Codec::encode(tile_state::helped, epoch, value, word);
        const std::uint64_t found = Access::load(slot + word);
        const bool free = !Codec::is_published(found, epoch);
        if (free && Access::install(slot + word, found, desired)) {
            installed = installed || word == 0;
        } else if (Access::load(slot + word) != desired) {
            return false;
        }
    }
    return installed;
}

/// A window of `Width` earlier tiles read by one thread. Entry Width - 1 is the nearest tile.
template <class Codec, class Access, int Width>
class serial_window {
public:
    using codec = Codec;
    using access = Access;
    using value_type = typename Codec::value_type;
    static constexpr int width = Width;

    /// Polls tiles [end - Width, end); those before tile 0 are left out of both masks.
    LOOKBACK_HD void load(slot_array slots, index_t end, std::uint32_t epoch) {
        prefix_mask_ = empty_mask_ = 0;
        for (int entry = 0; entry < Width; ++entry) {
            const index_t tile = end - Width + entry;
            if (tile < 0) continue;
            const auto message = poll<Codec, Access>(slots, tile, epoch);
            values_[entry] = message.value;
            prefix_mask_ |= std::uint32_t{message.state == tile_state::prefix} << entry;
            empty_mask_ |= std::uint32_t{message.state == tile_state::empty} << entry;
        }
    }
    LOOKBACK_HD std::uint32_t prefix_mask() const { return prefix_mask_; }
    LOOKBACK_HD std::uint32_t empty_mask() const { return empty_mask_; }

    /// op over the entries from `first` on, in order.
    template <class Op>
    LOOKBACK_HD value_type reduce_from(int first, Op op) const {
        value_type value = values_[Width - 1];
        for (int entry = Width - 2; entry >= 0; --entry) {
            if (entry >= first) value = op(values_[entry], value);
        }
        return value;
    }

private:
    value_type values_[Width]{};
    std::uint32_t prefix_mask_ = 0;
    std::uint32_t empty_mask_ = 0;
};

/// Index of the highest set bit; mask != 0.
LOOKBACK_HD inline int highest_bit(std::uint32_t mask) {
#if defined(__CUDA_ARCH__)
    return 31 - __clz(static_cast<int>(mask));
#else
    return 31 - __builtin_clz(mask);
#endif
}

/// The same for 64 bits.
LOOKBACK_HD inline int highest_bit_64(std::uint64_t mask) {
#if defined(__CUDA_ARCH__)
    return 63 - __clzll(static_cast<long long>(mask));
#else
    return 63 - __builtin_clzll(mask);
#endif
}

/// The combination of all tiles before `tile` (tile >= 1).
///
/// Every poll reloads the whole window and stops at the nearest prefix; `waiter.stalled(t, polls)`
/// is called after each poll that needed tile t and found it empty: it may help, count, or trap.
/// Returns when every needed tile has published. Tile 0 may be found as a prefix or, where another
/// block helped it, as an aggregate: an initial value is therefore never part of a published value.
template <class Window, class Op, class Waiter>
LOOKBACK_HD typename Window::value_type exclusive_prefix(slot_array slots, index_t tile,
                                                         std::uint32_t epoch, Op op,
                                                         Waiter& waiter) {
    using value_type = typename Window::value_type;
    Window window;
    value_type running{};
    bool any = false;
    for (index_t end = tile;; end -= Window::width) {
        const int outside = end < Window::width ? static_cast<int>(Window::width - end) : 0;
        int first = outside;
        bool reached_start = false;
        for (std::uint32_t polls = 0;; ++polls) {
            window.load(slots, end, epoch);
            const bool prefix = window.prefix_mask() != 0;
            first = prefix ? highest_bit(window.prefix_mask()) : outside;
            reached_start = prefix || end <= Window::width;
            const std::uint32_t late = window.empty_mask() >> first;
            if (late == 0) break;
            waiter.stalled(end - Window::width + first + highest_bit(late), polls);
            Window::access::pause(polls);
        }
        const value_type part = window.reduce_from(first, op);
        running = any ? op(part, running) : part;
        any = true;
        if (reached_start) return running;
    }
}

/// op over tiles [begin, end), by the window's own order of combination, once all of them have
/// published; 1 <= end - begin <= Window::width. For fixed groups, whose result must not depend on
/// what was published first: the tiles of a group publish aggregates only.
template <class Window, class Op, class Waiter>
LOOKBACK_HD typename Window::value_type range_total(slot_array slots, index_t begin, index_t end,
                                                    std::uint32_t epoch, Op op, Waiter& waiter) {
    Window window;
    const int first = Window::width - static_cast<int>(end - begin);
    for (std::uint32_t polls = 0;; ++polls) {
        window.load(slots, end, epoch);
        const std::uint32_t late = window.empty_mask() >> first;
        if (late == 0) return window.reduce_from(first, op);
        waiter.stalled(begin + highest_bit(late), polls);
        Window::access::pause(polls);
    }
}

/// Waits for as long as it takes.
struct patient_waiter {
    LOOKBACK_HD void stalled(index_t /*tile*/, std::uint32_t /*polls*/) const {}
};

/// For debug builds: a tile that has not published after `limit` polls is told to
/// report(tile, polls), which throws or traps, so that a broken schedule does not hang.
template <class Report>
struct bounded_waiter {
    std::uint32_t limit;
    Report report;

    LOOKBACK_HD void stalled(index_t tile, std::uint32_t polls) const {
        if (polls >= limit) report(tile, polls);
    }
};

}  // namespace lookback::core
