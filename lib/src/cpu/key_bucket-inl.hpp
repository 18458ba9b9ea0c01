// CPU backend, compiled once a SIMD target: sorts one bucket of the first pass inside the caches.
// Invariant: numbers come in chunks; sorted keys leave as their original bits, in rising places of
// the output. Whatever the input, a bucket of m keys costs no more than m log m.
#if defined(LOOKBACK_KEY_BUCKET_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_KEY_BUCKET_INL
#undef LOOKBACK_KEY_BUCKET_INL
#else
#define LOOKBACK_KEY_BUCKET_INL
#endif

#include "cpu/key_mapping.hpp"
#include "cpu/key_runs.hpp"
#include "cpu/key_shortcuts-inl.hpp"
#include "cpu/radix_partition.hpp"
#include "cpu/vector_sort-inl.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

/// Turns numbers back into keys.
template <class Mapping>
void restore_keys(const Mapping& mapping, const typename Mapping::number* in, std::size_t n,
                  typename Mapping::bits_type* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = mapping.from(in[i]);
}

/// What is known of the numbers of one bucket.
template <class Number>
struct bucket_facts {
    Number low;     ///< none is lower
    Number high;    ///< none is greater
    int dead_bits;  ///< so many low bits are the same in all
};

template <class Mapping>
class bucket_sorter {
public:
    using bits_type = typename Mapping::bits_type;
    using number = typename Mapping::number;
    using blocks = bucket_blocks<number>;

    static constexpr std::size_t lanes =
        HWY_TARGET == HWY_SCALAR ? 8 : hn::MaxLanes(hn::ScalableTag<number>());
    /// Pieces of this many keys on average are sorted by one network, of 8 rows for most. Larger
    /// ones cost more comparisons, smaller ones more cache misses while they are filled.
    static constexpr std::size_t piece_keys = 6 * lanes;
    /// Room of a piece: at least six deviations of a Poisson count more than the average, not more
    /// than a network takes (16 rows), and an odd number of lanes, else all pieces would share few
    /// sets of the L1 cache.
    static constexpr std::size_t piece_room = (sizeof(bits_type) == 4 ? 11 : 13) * lanes;
    static constexpr std::size_t most_pieces = 4096;
    static constexpr std::size_t batch = 256;
    static constexpr std::size_t staged = 2048;
    static constexpr std::size_t line = 64 / sizeof(bits_type);

    /// past_caches: the output is larger than the caches, so it is written around them.
    bucket_sorter(const Mapping& mapping, number* room, std::size_t room_items, bool past_caches)
        : mapping_(mapping), room_(room), room_items_(room_items), past_caches_(past_caches) {}

    /// The room that a bucket of m keys needs.
    static std::size_t room_items(std::size_t m) {
        return std::max(m, std::min(piece_count(m), most_pieces) * piece_room) + 64;
    }

    void sort(const blocks& source, std::size_t bucket, std::size_t m,
              const bucket_facts<number>& facts, bits_type* out) {
        if (m == 0) return;
        const auto range = static_cast<bits_type>(static_cast<bits_type>(facts.high) -
                                                  static_cast<bits_type>(facts.low));
        const auto last_value = static_cast<bits_type>(range >> facts.dead_bits);
        if (last_value == 0 || one_value(source, bucket)) {
            fill_keys(out, m, mapping_.from(source.first(bucket)));
        } else if (last_value < m / 8 && last_value < count_.size()) {
            count(source, bucket, facts, static_cast<std::size_t>(last_value) + 1, out);
        } else if (!spread(source, bucket, m, facts, out)) {
            gather_and_sort(source, bucket, m, out);
        }
    }

private:
    static std::size_t piece_count(std::size_t m) { return m / piece_keys + 1; }

    // Whether all keys are equal, as with far-apart values that are few; most often the first keys
    // tell that they are not.
    static bool one_value(const blocks& source, std::size_t bucket) {
        const number value = source.first(bucket);
        bool same = true;
        source.for_each_chunk(bucket, [&](std::span<const number> chunk) {
            for (std::size_t i = 0; i < chunk.size() && same; i += batch) {
                same = all_same(chunk.data() + i, std::min(batch, chunk.size() - i), value);
            }
        });
        return same;
    }

    // Few values are possible: counts them.
    void count(const blocks& source, std::size_t bucket, const bucket_facts<number>& facts,
               std::size_t values, bits_type* out) {
        std::fill_n(count_.begin(), values, 0U);
        source.for_each_chunk(bucket, [&](std::span<const number> chunk) {
            for (const number value : chunk) ++count_[value_index(value, facts)];
        });
        for (std::size_t value = 0; value < values; ++value) {
            const auto key = mapping_.from(static_cast<number>(
                static_cast<bits_type>(facts.low) +
                static_cast<bits_type>(static_cast<bits_type>(value) << facts.dead_bits)));
            out = std::fill_n(out, count_[value], key);
        }
    }
    static std::size_t value_index(number value, const bucket_facts<number>& facts) {
        return static_cast<std::size_t>(static_cast<bits_type>(static_cast<bits_type>(value) -
                                                               static_cast<bits_type>(facts.low)) >>
                                        facts.dead_bits);
    }

    // Spreads the numbers over pieces of equal ranges and sorts each by a network. Gives up when a
    // piece overflows, which uneven keys make likely; then nothing is written.
    bool spread(const blocks& source, std::size_t bucket, std::size_t m,
                const bucket_facts<number>& facts, bits_type* out) {
        const std::size_t pieces = piece_count(m);
        if (pieces < 8 || pieces > most_pieces || pieces * piece_room > room_items_) return false;
        if (lost_ > won_ + 4) return false;
        if (!fill_pieces(source, bucket, facts, pieces)) {
            ++lost_;
            return false;
        }
        ++won_;
        // The stage has the output's place in a line, so that whole lines go from one to the other.
        const hn::ScalableTag<number> d;
        std::size_t begin = reinterpret_cast<std::uintptr_t>(out) % 64 / sizeof(number);
        std::size_t ready = begin;
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            sort_few(d, room_ + piece * piece_room, count_[piece], stage_ + ready);
            ready += count_[piece];
            if (ready < staged && piece + 1 != pieces) continue;
            const std::size_t end = piece + 1 == pieces ? ready : ready / line * line;
            write_stage(begin, end, out);
            out += end - begin;
            std::copy(stage_ + end, stage_ + ready, stage_);
            ready -= end;
            begin = 0;
        }
        return true;
    }

    // stage_[begin, end) becomes the keys out[0, end - begin).
    void write_stage(std::size_t begin, std::size_t end, bits_type* out) {
        const std::size_t first = (begin + line - 1) / line * line;
        const std::size_t last = end / line * line;
        if (!past_caches_ || first >= last) {
            restore_keys(mapping_, stage_ + begin, end - begin, out);
            return;
        }
        restore_keys(mapping_, stage_ + begin, first - begin, out);
        out += first - begin;
        restore_keys(mapping_, stage_ + first, last - first, keys_);
        for (std::size_t i = 0; i < last - first; i += line) stream_lines<64>(out + i, keys_ + i);
        restore_keys(mapping_, stage_ + last, end - last, out + (last - first));
    }

    bool fill_pieces(const blocks& source, std::size_t bucket, const bucket_facts<number>& facts,
                     std::size_t pieces) {
        const auto low = static_cast<bits_type>(facts.low);
        const auto range = static_cast<bits_type>(static_cast<bits_type>(facts.high) - low);
        // 31 leading bits of the distance, scaled in float: monotonic, and exact enough.
        const int shift = std::max(0, static_cast<int>(std::bit_width(range)) - 31);
        const float scale =
            static_cast<float>(pieces) / (static_cast<float>(range >> shift) + 1.0F);
        const auto last = static_cast<std::int32_t>(pieces - 1);
        std::fill_n(count_.begin(), pieces, 0U);
        bool fits = true;
        source.for_each_chunk(bucket, [&](std::span<const number> chunk) {
            for (std::size_t first = 0; first < chunk.size() && fits; first += batch) {
                const std::size_t n = std::min(batch, chunk.size() - first);
                alignas(64) std::uint32_t piece[batch];
                for (std::size_t i = 0; i < n; ++i) {
                    const auto above =
                        static_cast<bits_type>(static_cast<bits_type>(chunk[first + i]) - low);
                    const auto distance = static_cast<std::int32_t>(above >> shift);
                    const auto index =
                        static_cast<std::int32_t>(static_cast<float>(distance) * scale);
                    piece[i] = static_cast<std::uint32_t>(std::min(index, last));
                }
                fits = place(chunk.data() + first, piece, n);
            }
        });
        return fits;
    }

    bool place(const number* values, const std::uint32_t* piece, std::size_t n) {
        std::uint32_t* const count = count_.data();
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t p = piece[i];
            const std::uint32_t slot = count[p];
            if (slot == piece_room) [[unlikely]]
                return false;
            room_[p * piece_room + slot] = values[i];
            count[p] = slot + 1;
        }
        return true;
    }

    // The keys' own place serves for the numbers too: they have one width.
    void gather_and_sort(const blocks& source, std::size_t bucket, std::size_t m, bits_type* out) {
        auto* numbers = reinterpret_cast<number*>(out);
        number* next = numbers;
        source.for_each_chunk(bucket, [&](std::span<const number> chunk) {
            next = std::copy(chunk.begin(), chunk.end(), next);
        });
        sort_in_cache(hn::ScalableTag<number>(), numbers, room_, m);
        restore_keys(mapping_, numbers, m, out);
    }

    Mapping mapping_;
    number* room_;
    std::size_t room_items_;
    int won_ = 0;  // pieces that held, and those that overflowed
    int lost_ = 0;
    std::array<std::uint32_t, 16384> count_;
    bool past_caches_;
    alignas(64) number stage_[staged + piece_room + line];
    alignas(64) bits_type keys_[staged + piece_room + line];
};

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
