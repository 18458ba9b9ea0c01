// CPU backend, compiled once a SIMD target: sorts keys of 32 and 64 bits by whole key.
// Invariant: one stable MSD pass into buckets, then each bucket in the caches. Zeros of both signs
// and NaNs have buckets of their own, which keep input order and are never sorted.
#if defined(LOOKBACK_WIDE_KEYS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_WIDE_KEYS_INL
#undef LOOKBACK_WIDE_KEYS_INL
#else
#define LOOKBACK_WIDE_KEYS_INL
#endif

#include "cpu/key_bucket-inl.hpp"
#include "cpu/key_sample-inl.hpp"
#include "cpu/key_shortcuts-inl.hpp"
#include "cpu/key_source-inl.hpp"

#include <atomic>
#include <memory>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

template <class Mapping>
class wide_sort {
public:
    using bits_type = typename Mapping::bits_type;
    using number = typename Mapping::number;
    using identity = integer_mapping<bits_type>;

    // Fewer keys are sorted by one thread without a first pass.
    static constexpr std::size_t few = std::size_t{1} << 14;
    // What a bucket should hold: with its pieces it fits an L2 cache of 1 MiB.
    static constexpr std::size_t bucket_keys = (std::size_t{1} << 19) / sizeof(bits_type);
    static constexpr std::size_t most_buckets = 2048;
    // A bucket of more keys is split by a first pass of its own, which all threads share.
    static constexpr std::size_t giant_keys = std::size_t{1} << 20;
    // Output that fits the caches stays there.
    static constexpr std::size_t cached_bytes = std::size_t{1} << 25;
    // Hostile input could make a bucket giant again and again.
    static constexpr int most_levels = 6;

    wide_sort(executor& executor, memory_resource& memory, const Mapping& mapping)
        : executor_(executor), memory_(memory), mapping_(mapping) {}

    void sort(std::span<bits_type> keys, int level) {
        if (keys.size() <= few || level == most_levels) {
            sort_alone(keys);
        } else if (level == 0 || !finish_without_sorting(executor_, mapping_, keys)) {
            sort_by_buckets(keys, level);
        }
    }

protected:  // the steps, for sorts that begin or end elsewhere
    enum class kind {
        numbers,  // to be sorted
        zeros,    // sorted as they come, like NaNs
        nans,
        counted,  // in no bucket
    };
    struct part {
        kind what;
        std::size_t bucket;
        std::size_t begin;  // in the output
        std::size_t size;
    };

    // One thread, one range: specials are set aside in input order.
    void sort_alone(std::span<bits_type> keys) {
        buffer<bits_type> room(memory_, keys.size() + 64);
        auto* const numbers = reinterpret_cast<number*>(keys.data());
        auto* const spare = reinterpret_cast<number*>(room.data());
        std::size_t n = keys.size();
        std::vector<bits_type> zeros;
        std::vector<bits_type> nans;
        if constexpr (Mapping::has_specials) {
            std::size_t kept = 0;
            for (const bits_type bits : keys) {
                if (Mapping::is_zero(bits)) {
                    zeros.push_back(bits);
                } else if (Mapping::is_nan(bits)) {
                    nans.push_back(bits);
                } else {
                    numbers[kept++] = mapping_.to(bits);
                }
            }
            n = kept;
        } else {
            for (std::size_t i = 0; i < n; ++i) numbers[i] = mapping_.to(keys[i]);
        }
        sort_in_cache(hn::ScalableTag<number>(), numbers, spare, n);
        if constexpr (Mapping::has_specials) {
            const bool nan_first = mapping_.nan_first;
            const std::size_t below = static_cast<std::size_t>(
                std::lower_bound(numbers, numbers + n, mapping_.lower_zero()) - numbers);
            restore_keys(mapping_, numbers, n, room.data());
            bits_type* out = keys.data();
            if (nan_first) out = std::copy(nans.begin(), nans.end(), out);
            out = std::copy_n(room.data(), below, out);
            out = std::copy(zeros.begin(), zeros.end(), out);
            out = std::copy_n(room.data() + below, n - below, out);
            if (!nan_first) std::copy(nans.begin(), nans.end(), out);
        } else {
            restore_keys(mapping_, numbers, n, keys.data());
        }
    }

    static std::size_t wanted_buckets(std::size_t keys) {
        return std::clamp<std::size_t>(std::bit_ceil(keys / bucket_keys), 16, most_buckets);
    }

    void sort_by_buckets(std::span<bits_type> keys, int level) {
        std::vector<number> sample =
            take_sample<Mapping>(mapping_, keys, static_cast<std::uint64_t>(level));
        auto window = plan_window<bits_type>(sample, keys.size());
        if constexpr (Mapping::has_specials) {
            window = without_zeros(window, mapping_.lower_zero());
        }
        const std::size_t looks = std::max<std::size_t>(1, sample.size());
        std::erase_if(sample, [&](number value) { return window.holds(value); });
        const std::size_t moved = keys.size() * sample.size() / looks;
        if (sample.empty()) sample.push_back(0);
        const auto classes = plan_classes<bits_type>(sample, wanted_buckets(moved));
        const std::size_t regular = classes.bucket_count();
        constexpr std::size_t extra = Mapping::has_specials ? 2 : 0;
        auto with_specials = classes;
        with_specials.append_cells(extra);
        std::vector<std::size_t> giants;
        std::vector<part> parts;
        std::vector<key_count<bits_type>> runs;
        {
            const auto threads = static_cast<std::size_t>(executor_.threads());
            bucket_blocks<number> blocks(memory_, keys.size(), executor_.threads(),
                                         regular + extra);
            buffer<std::uint32_t> counters(memory_, window.counters() * threads);
            std::fill(counters.begin(), counters.end(), 0U);
            std::vector<key_source<Mapping>> sources;
            for (std::size_t worker = 0; worker < threads; ++worker) {
                sources.emplace_back(keys.data(), mapping_, with_specials, window,
                                     counters.data() + worker * window.counters());
            }
            blocks.fill(executor_, std::span(sources));
            runs = counted_runs<Mapping>(mapping_, window, counters.span());
            parts = lay_out(blocks, classes, window, keys.size());
            giants = finish_buckets(blocks, parts, classes, facts_of(sources), keys);
        }
        for (const std::size_t giant : giants) {
            const auto range = keys.subspan(parts[giant].begin, parts[giant].size);
            wide_sort<identity>(executor_, memory_, identity{0}  // numbers are stored as they are
                                )
                .sort(range, level + 1);
            restore_in_place(range);
        }
        if constexpr (Mapping::has_specials) put_zeros_inside(keys, parts);
        if (!runs.empty()) put_counted_inside(keys, parts, window, runs);
    }

    template <class Source>
    static bucket_facts<number> facts_of(const std::vector<Source>& sources) {
        number low = std::numeric_limits<number>::max();
        number high = std::numeric_limits<number>::min();
        bits_type differing = 0;
        for (const auto& source : sources) {
            low = std::min(low, source.low);
            high = std::max(high, source.high);
            differing = static_cast<bits_type>(differing | source.differing);
        }
        return {low, high, differing == 0 ? 0 : std::countr_zero(differing)};
    }

    // Places of all buckets in the output, in order. Zeros stand behind the bucket of the numbers
    // just below them, and behind that the window whose numbers follow those of the same bucket.
    std::vector<part> lay_out(const bucket_blocks<number>& blocks,
                              const key_classes<bits_type>& classes,
                              const key_window<bits_type>& window, std::size_t n) const {
        const std::size_t regular = classes.bucket_count();
        std::size_t counted = n;
        for (std::size_t bucket = 0; bucket < blocks.bucket_count(); ++bucket) {
            counted -= blocks.size(bucket);
        }
        const std::size_t below_window =
            window.size == 0 ? regular : classes.bucket(static_cast<number>(window.low - 1));
        std::vector<part> parts;
        std::size_t begin = 0;
        const auto add = [&](kind what, std::size_t bucket) {
            const std::size_t size = what == kind::counted ? counted : blocks.size(bucket);
            parts.push_back({what, bucket, begin, size});
            begin += size;
        };
        std::size_t below_zero = regular;
        bool nan_first = false;
        if constexpr (Mapping::has_specials) {
            below_zero = classes.bucket(static_cast<number>(mapping_.lower_zero() - 1));
            nan_first = mapping_.nan_first;
        }
        if (nan_first) add(kind::nans, regular + 1);
        for (std::size_t bucket = 0; bucket < regular; ++bucket) {
            add(kind::numbers, bucket);
            if (bucket == below_zero) add(kind::zeros, regular);
            if (bucket == below_window) add(kind::counted, regular);
        }
        if (Mapping::has_specials && !nan_first) add(kind::nans, regular + 1);
        return parts;
    }

    // Sorts all buckets but the giant ones, whose numbers are only put into their places.
    std::vector<std::size_t> finish_buckets(const bucket_blocks<number>& blocks,
                                            const std::vector<part>& parts,
                                            const key_classes<bits_type>& classes,
                                            const bucket_facts<number>& all,
                                            std::span<bits_type> keys) {
        std::vector<std::size_t> giants;
        std::size_t largest = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (parts[i].what != kind::numbers) continue;
            if (parts[i].size > giant_keys) {
                giants.push_back(i);
            } else {
                largest = std::max(largest, parts[i].size);
            }
        }
        using sorter = bucket_sorter<Mapping>;
        const std::size_t room = sorter::room_items(largest);
        const auto threads = static_cast<std::size_t>(executor_.threads());
        buffer<number> rooms(memory_, room * threads);
        std::atomic<std::size_t> next{0};
        executor_.for_each_worker([&](int worker) {
            const auto local = std::make_unique<sorter>(
                mapping_, rooms.data() + static_cast<std::size_t>(worker) * room, room,
                keys.size_bytes() > cached_bytes);
            for (std::size_t i = next++; i < parts.size(); i = next++) {
                const auto [what, bucket, begin, size] = parts[i];
                bits_type* const out = keys.data() + begin;
                if (what == kind::counted) continue;
                if (what != kind::numbers) {
                    copy_out(blocks, bucket, true, out);
                } else if (size > giant_keys) {
                    copy_out(blocks, bucket, false, out);
                } else {
                    local->sort(blocks, bucket, size, facts_of_bucket(bucket, classes, all), out);
                }
            }
            stream_fence();
        });
        return giants;
    }

    static bucket_facts<number> facts_of_bucket(std::size_t bucket,
                                                const key_classes<bits_type>& classes,
                                                const bucket_facts<number>& all) {
        bucket_facts<number> facts = all;
        if (bucket != 0) facts.low = std::max(all.low, classes.lowest[bucket]);
        if (bucket + 1 < classes.bucket_count()) {
            facts.high = std::min(all.high, static_cast<number>(classes.lowest[bucket + 1] - 1));
        }
        // Bounds keep the dead bits that all numbers have.
        const auto dead = static_cast<bits_type>((bits_type{1} << all.dead_bits) - 1);
        const auto pattern = static_cast<bits_type>(static_cast<bits_type>(all.low) & dead);
        facts.low = static_cast<number>((static_cast<bits_type>(facts.low) & ~dead) | pattern);
        facts.high = static_cast<number>(static_cast<bits_type>(facts.high) | dead);
        return facts;
    }

    void copy_out(const bucket_blocks<number>& blocks, std::size_t bucket, bool as_keys,
                  bits_type* out) const {
        blocks.for_each_chunk(bucket, [&](std::span<const number> chunk) {
            if (as_keys) {
                restore_keys(mapping_, chunk.data(), chunk.size(), out);
            } else {
                std::memcpy(out, chunk.data(), chunk.size() * sizeof(number));
            }
            out += chunk.size();
        });
    }

    void restore_in_place(std::span<bits_type> keys) const {
        constexpr std::size_t piece = std::size_t{1} << 16;
        executor_.for_each((keys.size() + piece - 1) / piece, [&](std::size_t i) {
            const auto some = keys.subspan(i * piece, std::min(piece, keys.size() - i * piece));
            restore_keys(mapping_, reinterpret_cast<const number*>(some.data()), some.size(),
                         some.data());
        });
    }

    // Where the bucket before the zeros reaches over zero, they move to their place in it.
    void put_zeros_inside(std::span<bits_type> keys, const std::vector<part>& parts) const {
        for (std::size_t i = 1; i < parts.size(); ++i) {
            if (parts[i].what != kind::zeros) continue;
            if (parts[i].size == 0 || parts[i - 1].size == 0) return;
            bits_type* const begin = keys.data() + parts[i - 1].begin;
            bits_type* const zeros = keys.data() + parts[i].begin;
            bits_type* const above = std::partition_point(begin, zeros, [&](bits_type bits) {
                return mapping_.to(bits) < mapping_.lower_zero();
            });
            std::rotate(above, zeros, zeros + parts[i].size);
            return;
        }
    }

    // Where the bucket before the window reaches over it, what is greater moves behind; then the
    // window's keys are written.
    void put_counted_inside(std::span<bits_type> keys, const std::vector<part>& parts,
                            const key_window<bits_type>& window,
                            const std::vector<key_count<bits_type>>& runs) {
        const auto counted = std::find_if(
            parts.begin(), parts.end(), [](const part& one) { return one.what == kind::counted; });
        auto before = std::prev(counted);
        if (before->what == kind::zeros) --before;
        bits_type* const end = keys.data() + counted->begin;
        bits_type* const place =
            std::partition_point(keys.data() + before->begin, end,
                                 [&](bits_type bits) { return mapping_.to(bits) < window.low; });
        std::copy_backward(place, end, end + counted->size);
        write_runs<bits_type>(executor_, runs, std::span(place, counted->size));
    }

    executor& executor_;
    memory_resource& memory_;
    Mapping mapping_;
};

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
