// CPU backend: where segments begin inside one tile of items.
// Invariant: the time is bounded by the items of the tile, however many empty segments lie in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lookback::cpu {

/// The first position from `from` on whose offset differs from the one at `from`. A long run of
/// equal offsets (empty segments) is leapt over.
inline std::size_t after_equals(std::span<const std::int64_t> offsets, std::size_t from) {
    const std::int64_t value = offsets[from];
    std::size_t step = 1;
    while (from + step < offsets.size() && offsets[from + step] == value) {
        from += step;
        step *= 2;
    }
    const auto begin = offsets.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end =
        offsets.begin() + static_cast<std::ptrdiff_t>(std::min(from + step, offsets.size()));
    return static_cast<std::size_t>(std::upper_bound(begin, end, value) - offsets.begin());
}

class tile_heads {
public:
    /// Items [begin, end) of an array that is cut by offsets; begin < end.
    tile_heads(std::span<const std::int64_t> offsets, std::int64_t begin, std::int64_t end)
        : offsets_(offsets), begin_(begin), end_(end) {
        const auto position = [&](auto place) {
            return static_cast<std::size_t>(place - offsets.begin());
        };
        first_ = position(std::lower_bound(offsets.begin(), offsets.end(), begin));
        stop_ = position(std::lower_bound(offsets.begin(), offsets.end(), end));
    }

    bool any() const { return first_ != stop_; }
    bool at_begin() const { return any() && offsets_[first_] == begin_; }
    /// No head behind the tile's first item.
    bool one_segment() const { return !any() || last() == begin_; }
    std::int64_t last() const { return offsets_[stop_ - 1]; }

    /// Sets bit i of `bitmap` for a head at begin + i, and clears all others.
    void mark(std::span<std::uint64_t> bitmap) const {
        std::fill(bitmap.begin(), bitmap.end(), 0);
        // Looking for a run of empty segments at every 16th offset costs nothing measurable.
        constexpr std::size_t stride = 16;
        // The word at hand stays in a register: heads that lie close would wait for its store.
        std::size_t at = 0;
        std::uint64_t word = 0;
        const auto set = [&](std::int64_t head) {
            const auto bit = static_cast<std::size_t>(head - begin_);
            if (bit / 64 != at) {
                bitmap[at] = word;
                at = bit / 64;
                word = 0;
            }
            word |= std::uint64_t{1} << bit % 64;
        };
        for (std::size_t s = first_; s < stop_;) {
            const std::size_t until = std::min(s + stride, stop_);
            if (offsets_[until - 1] == offsets_[s]) {
                set(offsets_[s]);
                s = after_equals(offsets_, s);
            }
            for (; s < until; ++s) set(offsets_[s]);
        }
        bitmap[at] = word;
    }

    /// body(s, first item, last item + 1) for each segment with items that ends in the tile; its
    /// first item may lie before the tile.
    template <class Body>
    void for_each_end(const Body& body) const {
        // The segment that reaches into the tile, if there is one, comes first.
        std::size_t s = at_begin() ? first_ : first_ - 1;
        while (s + 1 < offsets_.size() && offsets_[s + 1] <= end_) {
            if (offsets_[s] == offsets_[s + 1]) {
                s = after_equals(offsets_, s) - 1;
                if (s + 1 == offsets_.size() || offsets_[s + 1] > end_) return;
            }
            body(s, offsets_[s], offsets_[s + 1]);
            ++s;
        }
    }

    /// At least as many as for_each_end() finds.
    std::size_t ends_bound() const { return stop_ - first_ + 1; }

private:
    std::span<const std::int64_t> offsets_;
    std::int64_t begin_;
    std::int64_t end_;
    std::size_t first_;  // of the offsets in [begin, end)
    std::size_t stop_;   // one behind the last of them
};

}  // namespace lookback::cpu
