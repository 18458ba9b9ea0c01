// CPU backend, compiled once a SIMD target: sorts keys of 32 and 64 bits between a reader and a
// writer: each worker partitions what it reads, and buckets are written as they are finished.
// Invariant: nothing is written before all is read; ranges are written in rising order of tickets,
// so that whoever has the lowest one need not wait for another.
#if defined(LOOKBACK_STREAM_KEYS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_STREAM_KEYS_INL
#undef LOOKBACK_STREAM_KEYS_INL
#else
#define LOOKBACK_STREAM_KEYS_INL
#endif

#include "cpu/stream_limits.hpp"
#include "cpu/tickets.hpp"
#include "cpu/wide_keys-inl.hpp"

#include <lookback/buffer.hpp>
#include <lookback/sort_stream.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

/// Reads a worker's range block by block, for the first pass.
template <class Mapping>
class streamed_source : public key_source<Mapping> {
public:
    using base = key_source<Mapping>;
    using bits_type = typename Mapping::bits_type;
    using number = typename Mapping::number;

    /// Keys [begin, end), read into `window` of stream_window_keys() and two batches.
    streamed_source(const key_stream& stream, std::size_t begin, std::size_t end, bits_type* window,
                    const Mapping& mapping, const key_classes<bits_type>& classes)
        : base(window, mapping, classes, {}, nullptr),
          stream_(&stream),
          window_(window),
          window_keys_(stream_window_keys(stream.block, sizeof(bits_type))),
          first_(begin),
          filled_(begin),
          end_(end) {}

    std::size_t load(std::size_t first, std::size_t count, number* items, std::uint16_t* bucket) {
        if (first + count > filled_) refill(first, count);
        return base::load_from(window_ + (first - first_), count, items, bucket);
    }

private:
    // Keys from `first` on move to the front; behind them whole blocks are read.
    void refill(std::size_t first, std::size_t count) {
        std::copy(window_ + (first - first_), window_ + (filled_ - first_), window_);
        first_ = first;
        while (filled_ < first + count) {
            const std::size_t stop = std::min(end_, (filled_ / window_keys_ + 1) * window_keys_);
            stream_->read(filled_, stop - filled_, window_ + (filled_ - first_));
            filled_ = stop;
        }
    }

    const key_stream* stream_;
    bits_type* window_;
    std::size_t window_keys_;
    std::size_t first_;  // the window holds keys [first_, filled_)
    std::size_t filled_;
    std::size_t end_;
};

template <class Mapping>
class stream_sort : private wide_sort<Mapping> {
public:
    using base = wide_sort<Mapping>;
    using typename base::bits_type;
    using typename base::identity;
    using typename base::number;

    stream_sort(executor& executor, memory_resource& memory, const Mapping& mapping,
                const key_stream& stream)
        : base(executor, memory, mapping), stream_(stream) {}

    bool sort() {
        const std::vector<bits_type> peeked = peek();
        if (is_ordered(peeked)) return false;
        const std::vector<number> sample = sorted_numbers<Mapping>(mapping_, peeked);
        if (sample.empty()) return false;
        if (has_few_values(sample)) return false;
        const auto classes = plan_classes<bits_type>(sample, base::wanted_buckets(stream_.size));
        auto with_specials = classes;
        constexpr std::size_t extra = Mapping::has_specials ? 2 : 0;
        with_specials.append_cells(extra);
        bucket_blocks<number> blocks(memory_, stream_.size, executor_.threads(),
                                     classes.bucket_count() + extra, true);
        const auto facts = read_all(blocks, with_specials);
        return write_all(
            {blocks, base::lay_out(blocks, classes, {}, stream_.size), classes, facts, {}});
    }

private:
    using base::executor_;
    using base::mapping_;
    using base::memory_;
    using typename base::kind;
    using typename base::part;
    using sorter = bucket_sorter<Mapping>;

    // The keys between reading and writing.
    struct partition {
        bucket_blocks<number>& blocks;
        std::vector<part> parts;
        const key_classes<bits_type>& classes;
        bucket_facts<number> facts;
        std::vector<bool> as_it_comes;  // by part: nothing there needs sorting
    };

    // Keys from places spread over the input, in input order.
    std::vector<bits_type> peek() const {
        const std::size_t wanted = std::clamp<std::size_t>(stream_.size / 256, 1024, 16384);
        // A place costs the source a block: a decoded chunk, or a page of a file.
        const std::size_t places = stream_.block > wanted ? 64 : 512;
        const std::size_t stride = stream_.size / places;
        const std::size_t run = std::min(wanted / places, stride);
        std::vector<bits_type> peeked(places * run);
        executor_.for_each(places, [&](std::size_t place) {
            const std::uint64_t random = (place + 1) * 0x9e3779b97f4a7c15U;
            const std::size_t skip = (random >> 32) * (stride - run) >> 32;
            stream_.peek(place * stride + skip, run, peeked.data() + place * run);
        });
        return peeked;
    }

    bool is_ordered(const std::vector<bits_type>& keys) const {
        return in_order<false>(mapping_, keys.data(), keys.size() - 1) ||
               in_order<true>(mapping_, keys.data(), keys.size() - 1);
    }

    static bool has_few_values(const std::vector<number>& sorted) {
        constexpr int few_values = 8;
        int values = 1;
        for (std::size_t i = 1; i < sorted.size(); ++i)
            values += sorted[i] != sorted[i - 1] ? 1 : 0;
        return values <= few_values;
    }

    bucket_facts<number> read_all(bucket_blocks<number>& blocks,
                                  const key_classes<bits_type>& classes) const {
        const auto workers = static_cast<std::size_t>(executor_.threads());
        const std::size_t window =
            stream_window_keys(stream_.block, sizeof(bits_type)) + 2 * partition_batch;
        buffer<bits_type> windows(memory_, workers * window);
        std::vector<streamed_source<Mapping>> sources;
        for (std::size_t w = 0; w < workers; ++w) {
            sources.emplace_back(stream_, blocks.range_begin(w), blocks.range_begin(w + 1),
                                 windows.data() + w * window, mapping_, classes);
        }
        blocks.fill(executor_, std::span(sources));
        return base::facts_of(sources);
    }

    // One worker's room while buckets are finished. All of it is there before the first write: a
    // worker that could not go on would leave others waiting for its ranges.
    struct worker_room {
        bits_type* out;     // of a bucket
        bits_type* staged;  // of keys that are sorted as they come
        std::unique_ptr<sorter> local;
    };

    bool write_all(partition done) const {
        std::size_t largest = 0;
        for (std::size_t i = 0; i < done.parts.size(); ++i) {
            const part& each = done.parts[i];
            done.as_it_comes.push_back(each.what != kind::numbers || is_one_value(done, i));
            if (done.as_it_comes[i]) continue;
            if (each.size > largest_giant(stream_.size)) return false;
            if (each.size <= base::giant_keys) largest = std::max(largest, each.size);
        }
        const std::size_t room = sorter::room_items(largest);
        const std::size_t out_keys = largest + stream_out_keys;
        const auto workers = static_cast<std::size_t>(executor_.threads());
        buffer<number> spaces(memory_, room * workers);
        buffer<bits_type> outs(memory_, out_keys * workers);
        std::vector<worker_room> rooms;
        for (std::size_t w = 0; w < workers; ++w) {
            bits_type* const out = outs.data() + w * out_keys;
            rooms.push_back(
                {out, out + largest,
                 std::make_unique<sorter>(mapping_, spaces.data() + w * room, room, false)});
        }
        // Giants take all threads, so everything before them is written first.
        for (std::size_t first = 0; first < done.parts.size();) {
            std::size_t end = first;
            while (end < done.parts.size() && !is_giant(done, end)) ++end;
            for_each_ticket(executor_, end - first, [&](int worker) {
                return [&, own = &rooms[static_cast<std::size_t>(worker)]](std::size_t i) {
                    write_part(done, first + i, *own);
                };
            });
            if (end < done.parts.size()) write_giant(done, end, rooms.front());
            first = end + 1;
        }
        return true;
    }

    static bool is_giant(const partition& done, std::size_t i) {
        return !done.as_it_comes[i] && done.parts[i].size > base::giant_keys;
    }

    // Whether all keys of the part are one number, and no zeros have to go among them.
    static bool is_one_value(const partition& done, std::size_t i) {
        const std::size_t bucket = done.parts[i].bucket;
        if (zeros_inside(done, i) != 0) return false;
        const auto facts = base::facts_of_bucket(bucket, done.classes, done.facts);
        const auto range = static_cast<bits_type>(static_cast<bits_type>(facts.high) -
                                                  static_cast<bits_type>(facts.low));
        return static_cast<bits_type>(range >> facts.dead_bits) == 0;
    }

    // Zeros that belong among the numbers of part i, or right behind them.
    static std::size_t zeros_inside(const partition& done, std::size_t i) {
        if (!Mapping::has_specials || i + 1 >= done.parts.size()) return 0;
        const part& next = done.parts[i + 1];
        return next.what == kind::zeros && done.parts[i].size != 0 ? next.size : 0;
    }

    // A bucket that is finished is given back at once: the pages that its keys take in the file are
    // as many, so both together need little more memory than either.
    void write_part(const partition& done, std::size_t i, const worker_room& own) const {
        const part& each = done.parts[i];
        // Zeros are written with the numbers that they belong to.
        if (i > 0 && zeros_inside(done, i - 1) != 0) return;
        if (each.size == 0) {
            done.blocks.discard(each.bucket);
            return;
        }
        if (done.as_it_comes[i]) {
            write_as_it_comes(done, i, each.begin, own);
            return;
        }
        const auto facts = base::facts_of_bucket(each.bucket, done.classes, done.facts);
        own.local->sort(done.blocks, each.bucket, each.size, facts, own.out);
        done.blocks.discard(each.bucket);
        const std::size_t zeros = zeros_inside(done, i);
        const std::size_t below = zeros == 0 ? each.size : below_zero(own.out, each.size);
        stream_.write(each.begin, below, own.out);
        if (zeros == 0) return;
        write_as_it_comes(done, i + 1, each.begin + below, own);
        stream_.write(each.begin + below + zeros, each.size - below, own.out + below);
    }

    std::size_t below_zero(const bits_type* keys, std::size_t count) const {
        if constexpr (Mapping::has_specials) {
            return static_cast<std::size_t>(std::partition_point(keys, keys + count,
                                                                 [&](bits_type bits) {
                                                                     return mapping_.to(bits) <
                                                                            mapping_.lower_zero();
                                                                 }) -
                                            keys);
        }
        return count;
    }

    void write_as_it_comes(const partition& done, std::size_t i, std::size_t to,
                           const worker_room& own) const {
        std::size_t ready = 0;
        const auto flush = [&] {
            if (ready == 0) return;
            stream_.write(to, ready, own.staged);
            to += ready;
            ready = 0;
        };
        done.blocks.for_each_chunk(done.parts[i].bucket, [&](std::span<const number> chunk) {
            while (!chunk.empty()) {
                const std::size_t n = std::min(chunk.size(), stream_out_keys - ready);
                restore_keys(mapping_, chunk.data(), n, own.staged + ready);
                ready += n;
                chunk = chunk.subspan(n);
                if (ready == stream_out_keys) flush();
            }
        });
        flush();
        done.blocks.discard(done.parts[i].bucket);
    }

    void write_giant(const partition& done, std::size_t i, const worker_room& own) const {
        const part& each = done.parts[i];
        buffer<bits_type> keys(memory_, each.size);
        base::copy_out(done.blocks, each.bucket, false, keys.data());
        done.blocks.discard(each.bucket);
        wide_sort<identity>(executor_, memory_, identity{0}).sort(keys.span(), 1);
        base::restore_in_place(keys.span());
        const std::size_t zeros = zeros_inside(done, i);
        const std::size_t below = zeros == 0 ? each.size : below_zero(keys.data(), each.size);
        write_range(each.begin, keys.span().first(below));
        if (zeros == 0) return;
        write_as_it_comes(done, i + 1, each.begin + below, own);
        write_range(each.begin + below + zeros, keys.span().subspan(below));
    }

    void write_range(std::size_t to, std::span<const bits_type> keys) const {
        const std::size_t pieces = (keys.size() + stream_out_keys - 1) / stream_out_keys;
        for_each_ticket(executor_, pieces, [&](int) {
            return [&](std::size_t i) {
                const std::size_t begin = i * stream_out_keys;
                const auto piece =
                    keys.subspan(begin, std::min(stream_out_keys, keys.size() - begin));
                stream_.write(to + begin, piece.size(), piece.data());
            };
        });
    }

    const key_stream& stream_;
};

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
