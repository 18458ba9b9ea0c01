// CPU backend: one stable MSD pass over memory, from n items into buckets made of blocks.
// Invariant: a bucket's chunks, visited in order, hold its items in input order. No histogram is
// taken first: workers fill fixed blocks of their own through small write-combining buffers.
// Where buckets are to be discarded, blocks of neighbours lie together in huge pages.
#pragma once

#include "cpu/executor.hpp"
#include "cpu/stream_lines.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/core/platform.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace lookback::cpu {

/// Items that a Source hands over at a time.
inline constexpr std::size_t partition_batch = 128;

/// A Source gives items [first, first + count) of the input, count <= partition_batch, with the
/// bucket of each: load(first, count, items, bucket). It may drop some and return how many are
/// left. Each worker uses a Source of its own, so it may gather statistics.
template <class Item>
class bucket_blocks {
public:
    /// A multiple of 64 bytes that is written at once; a power of two in items. Longer lines mean
    /// fewer mispredicted branches, but all buckets' lines should stay in the L1 cache.
    static constexpr std::size_t line_items = [] {
        std::size_t items = sizeof(Item) <= 4 ? 32 : sizeof(Item) <= 12 ? 16 : 8;
        while (items * sizeof(Item) % 64 != 0) items *= 2;
        return items;
    }();
    static constexpr std::size_t line_bytes = line_items * sizeof(Item);

    bucket_blocks(memory_resource& memory, std::size_t items, int workers, std::size_t buckets,
                  bool discarded = false)
        : shape_(items, workers, buckets, discarded),
          workers_(static_cast<std::size_t>(workers)),
          memory_(&memory),
          storage_(memory, shape_.bytes()),
          held_(core::ceil_div(buckets, shape_.group_buckets)) {
        for (std::size_t b = 0; b < buckets; ++b) ++held_[b / shape_.group_buckets];
    }

    /// Bytes that the constructor takes from its memory resource.
    static std::size_t memory_bytes(std::size_t items, int workers, std::size_t buckets) {
        return shape(items, workers, buckets, false).bytes();
    }

    /// Spreads the input; sources[w] serves worker w.
    template <class Source>
    void fill(executor& executor, std::span<Source> sources) {
        executor.for_each(workers_.size(), [&](std::size_t w) { fill_range(w, sources[w]); });
    }

    std::size_t bucket_count() const { return shape_.buckets; }

    /// Worker w's source is asked for items [range_begin(w), range_begin(w + 1)), in order.
    std::size_t range_begin(std::size_t w) const {
        return std::min(shape_.items, w * shape_.range_items);
    }

    std::size_t size(std::size_t bucket) const {
        std::size_t sum = 0;
        for (const auto& worker : workers_) sum += worker.count[bucket];
        return sum;
    }

    /// The first item of a bucket that is not empty.
    const Item& first(std::size_t bucket) const {
        auto worker = workers_.begin();
        while (worker->count[bucket] == 0) ++worker;
        return *block(worker->blocks[worker->first_block[bucket]]);
    }

    /// visit(std::span<const Item>) for the parts of a bucket, in input order.
    template <class Visit>
    void for_each_chunk(std::size_t bucket, const Visit& visit) const {
        for (const auto& worker : workers_) {
            std::size_t left = worker.count[bucket];
            for (std::size_t i = worker.first_block[bucket]; left != 0; ++i) {
                const std::size_t part = std::min(left, shape_.block_items);
                visit(std::span<const Item>(block(worker.blocks[i]), part));
                left -= part;
            }
        }
    }

    /// The bucket's items are needed no more; any thread may say so, once a bucket. Their memory is
    /// given back with that of the bucket's neighbours, if the constructor was told of it.
    void discard(std::size_t bucket) {
        const std::size_t group = bucket / shape_.group_buckets;
        if (shape_.region_blocks == 1 || --held_[group] != 0) return;
        for (const auto& worker : workers_) {
            for (const std::uint32_t region : worker.regions[group]) {
                memory_->discard(block(region), region_bytes);
            }
        }
    }

private:
    static constexpr std::size_t region_bytes = std::size_t{2} << 20;  // a huge page
    static constexpr std::uint16_t no_bucket = std::numeric_limits<std::uint16_t>::max();

    struct shape {
        shape(std::size_t n, int threads, std::size_t bucket_count, bool discarded)
            : items(n),
              workers(static_cast<std::size_t>(threads)),
              buckets(bucket_count),
              // The last block of a bucket is half empty: at most 1/8 of the items is lost that way
              // unless blocks of 8 lines (for small inputs) lose more.
              block_items(line_items * 8) {
            const std::size_t most = 4096;
            while (block_items < most && block_items * 8 * workers * buckets < items) {
                block_items *= 2;
            }
            range_items =
                core::ceil_div(core::ceil_div(items, workers), partition_batch) * partition_batch;
            range_blocks = core::ceil_div(range_items, block_items) + buckets;
            if (discarded) group();
        }
        // Every worker has an open region a group, half empty at the end: 1/16 of all at most.
        void group() {
            const std::size_t block_bytes = block_items * sizeof(Item);
            const std::size_t most = 64;
            const std::size_t groups =
                std::min({most, buckets, items * sizeof(Item) / 16 / (workers * region_bytes)});
            if (groups < 4 || region_bytes % block_bytes != 0) return;
            region_blocks = region_bytes / block_bytes;
            group_buckets = core::ceil_div(buckets, groups);
            range_blocks += groups * (region_blocks - 1);
            range_blocks = core::ceil_div(range_blocks, region_blocks) * region_blocks;
        }
        std::size_t bytes() const {
            return (workers * range_blocks * block_items + workers * buckets * line_items) *
                   sizeof(Item);
        }

        std::size_t items;
        std::size_t workers;
        std::size_t buckets;
        std::size_t block_items;   // a power of two, whole lines
        std::size_t range_items;   // what one worker reads
        std::size_t range_blocks;  // and may fill

        std::size_t group_buckets = 1;  // neighbours that share regions
        std::size_t region_blocks = 1;  // blocks that lie together
    };

    struct worker_state {
        std::vector<std::size_t> count;                   // items a bucket
        std::vector<std::size_t> first_block;             // in blocks, by bucket
        std::vector<std::uint32_t> blocks;                // sorted by bucket, then by input order
        std::vector<std::uint16_t> block_bucket;          // by block of this worker, while filling
        std::vector<std::vector<std::uint32_t>> regions;  // their first blocks, by group
    };
    // Where a group's next block is.
    struct open_region {
        std::size_t next = 0;
        std::size_t left = 0;
    };

    Item* block(std::size_t index) const {
        return reinterpret_cast<Item*>(storage_.data()) + index * shape_.block_items;
    }
    Item* lines(std::size_t w) const {
        return block(shape_.workers * shape_.range_blocks) + w * shape_.buckets * line_items;
    }

    template <class Source>
    void fill_range(std::size_t w, Source& source) {
        const std::size_t begin = range_begin(w);
        const std::size_t end = range_begin(w + 1);
        filler lines(*this, w);
        alignas(64) Item items[partition_batch];
        alignas(64) std::uint16_t bucket[partition_batch];
        for (std::size_t first = begin; first < end; first += partition_batch) {
            const std::size_t count = std::min(partition_batch, end - first);
            if constexpr (std::is_void_v<decltype(source.load(first, count, items, bucket))>) {
                source.load(first, count, items, bucket);
                lines.add(items, bucket, count);
            } else {
                const std::size_t left = source.load(first, count, items, bucket);
                lines.add(items, bucket, left);
            }
        }
        lines.finish();
        stream_fence();
        list_blocks(workers_[w], w);
    }

    class filler {
    public:
        filler(bucket_blocks& owner, std::size_t w)
            : owner_(owner),
              state_(owner.workers_[w]),
              lines_(owner.lines(w)),
              blocks_(owner.block(w * owner.shape_.range_blocks)),
              slot_(owner.shape_.buckets),
              next_(owner.shape_.buckets, 0),
              open_(owner.held_.size()) {
            for (std::size_t b = 0; b < slot_.size(); ++b) {
                slot_[b] = static_cast<std::uint32_t>(b * line_items);
            }
            state_.block_bucket.reserve(owner.shape_.range_blocks);
            state_.regions.resize(open_.size());
            first_block_ =
                static_cast<std::size_t>(blocks_ - owner.block(0)) / owner.shape_.block_items;
        }

        void add(const Item* items, const std::uint16_t* bucket, std::size_t count) {
            Item* const lines = lines_;
            std::uint32_t* const slots = slot_.data();
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t b = bucket[i];
                const std::uint32_t slot = slots[b];
                lines[slot] = items[i];
                slots[b] = slot + 1;
                if ((slot + 1) % line_items == 0) [[unlikely]]
                    flush(b);
            }
        }

        // Lines that are not full go out, and the sizes become known.
        void finish() {
            const std::size_t block_items = owner_.shape_.block_items;
            std::vector<std::size_t> full(slot_.size(), 0);
            for (const std::uint16_t b : state_.block_bucket) {
                if (b != no_bucket) full[b] += block_items;
            }
            state_.count.resize(slot_.size());
            for (std::size_t b = 0; b < slot_.size(); ++b) {
                const std::size_t rest = slot_[b] - b * line_items;
                const std::size_t open = (block_items - next_[b] % block_items) % block_items;
                state_.count[b] = full[b] - open + rest;
                if (rest == 0) continue;
                if (open == 0) open_block(b);
                std::memcpy(blocks_ + next_[b], lines_ + b * line_items, rest * sizeof(Item));
            }
        }

    private:
        void flush(std::size_t b) {
            slot_[b] = static_cast<std::uint32_t>(b * line_items);
            std::size_t next = next_[b];
            if (next % owner_.shape_.block_items == 0) next = open_block(b);
            stream_lines<line_bytes>(blocks_ + next, lines_ + b * line_items);
            next_[b] = next + line_items;
        }

        std::size_t open_block(std::size_t b) {
            const std::size_t group = b / owner_.shape_.group_buckets;
            open_region& open = open_[group];
            if (open.left == 0) {
                open = {state_.block_bucket.size(), owner_.shape_.region_blocks};
                state_.block_bucket.resize(open.next + open.left, no_bucket);
                if (open.left > 1) {
                    state_.regions[group].push_back(
                        static_cast<std::uint32_t>(first_block_ + open.next));
                }
            }
            state_.block_bucket[open.next] = static_cast<std::uint16_t>(b);
            next_[b] = open.next * owner_.shape_.block_items;
            ++open.next;
            --open.left;
            return next_[b];
        }

        bucket_blocks& owner_;
        worker_state& state_;
        Item* lines_;                      // one open line a bucket
        Item* blocks_;                     // this worker's
        std::vector<std::uint32_t> slot_;  // where in lines_ the next item goes
        std::vector<std::size_t> next_;    // where in blocks_ the next line goes
        std::vector<open_region> open_;    // by group
        std::size_t first_block_;          // of this worker's
    };

    void list_blocks(worker_state& worker, std::size_t w) const {
        worker.first_block.assign(shape_.buckets + 1, 0);
        std::size_t used = 0;
        for (const std::uint16_t b : worker.block_bucket) {
            if (b == no_bucket) continue;
            ++worker.first_block[b + 1U];
            ++used;
        }
        for (std::size_t b = 0; b < shape_.buckets; ++b) {
            worker.first_block[b + 1] += worker.first_block[b];
        }
        std::vector<std::size_t> cursor(worker.first_block);
        worker.blocks.resize(used);
        std::size_t index = w * shape_.range_blocks;
        for (const std::uint16_t b : worker.block_bucket) {
            if (b != no_bucket) worker.blocks[cursor[b]++] = static_cast<std::uint32_t>(index);
            ++index;
        }
    }

    shape shape_;
    std::vector<worker_state> workers_;
    memory_resource* memory_;
    buffer<std::byte> storage_;
    std::vector<std::atomic<std::size_t>> held_;  // buckets not discarded yet, by group
};

}  // namespace lookback::cpu
