#include "cpu/segmented_scan.hpp"

#include "cpu/host_access.hpp"
#include "cpu/scan_lanes.hpp"
#include "cpu/segmented_lanes.hpp"
#include "cpu/segmented_reproducible.hpp"
#include "cpu/sign_free.hpp"
#include "cpu/tile_heads.hpp"
#include "item_list.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/core/tile_shape.hpp>

#include <algorithm>
#include <atomic>

namespace lookback::cpu {
namespace {

/// What all tiles share: the items, the slots, the operator.
template <class T>
class segmented_tiles {
public:
    segmented_tiles(memory_resource& memory, std::span<const T> in,
                    std::span<const std::int64_t> offsets, scan_operator op,
                    const std::optional<T>& init, const scan_limits& limits)
        : memory_(memory),
          lanes_(find_scan_lanes<T>(op)),
          segmented_(find_segmented_scan<T>(op)),
          init_(init),
          in_(in.data()),
          offsets_(offsets),
          shape_{static_cast<core::index_t>(in.size()),
                 static_cast<core::index_t>(std::min(limits.tile_bytes / sizeof(T), in.size()))},
          words_(memory, static_cast<std::size_t>(shape_.tiles() * line_words)),
          slots_{words_.data(), line_words} {
        // Whatever this memory held before, it does not look like a published tile.
        std::fill(words_.begin(), words_.end(), 0);
    }

    void scan(executor& threads, const scan_limits& limits, std::span<T> out, bool exclusive) {
        const bool stream = limits.streams(std::span<const T>(in_, out.size()), out);
        for_each_tile(threads, limits, [&](core::index_t tile, scratch& own) {
            const tile_heads heads = heads_of(tile);
            const T before = value_before(tile, heads);
            const core::index_t begin = shape_.begin(tile);
            if (heads.one_segment()) {
                lanes_.scan(in_ + begin, out.data() + begin, items(tile),
                            heads.any() ? start() : before, {exclusive, stream, nullptr});
                return;
            }
            heads.mark(own.bitmap.span());
            segmented_(in_ + begin, out.data() + begin, items(tile), own.bitmap.data(),
                       {before, start(), exclusive, stream});
        });
    }

    void reduce(executor& threads, const scan_limits& limits, std::span<T> out) {
        for_each_tile(threads, limits, [&](core::index_t tile, scratch& own) {
            const tile_heads heads = heads_of(tile);
            const T before = value_before(tile, heads);
            // Long segments one by one; many short ones by a scan, of which only the ends count.
            constexpr std::size_t long_items = 64;
            if (heads.ends_bound() * long_items < items(tile)) {
                reduce_each(tile, heads, before, out);
            } else {
                reduce_by_scan(tile, heads, before, own, out);
            }
        });
    }

private:
    using codec = core::tagged_codec<T>;
    static constexpr std::uint32_t epoch = 1;

    /// What one thread needs. The results are those of a tile whose segments' totals are wanted.
    struct scratch {
        scratch(memory_resource& from, std::size_t tile_items)
            : memory(from), bitmap(from, tile_items / 64 + 3) {}

        memory_resource& memory;
        buffer<std::uint64_t> bitmap;
        buffer<T> results;
    };

    T start() const { return init_.value_or(lanes_.identity); }

    std::size_t items(core::index_t tile) const {
        return static_cast<std::size_t>(shape_.size(tile));
    }

    tile_heads heads_of(core::index_t tile) const {
        return {offsets_, shape_.begin(tile), shape_.begin(tile) + shape_.size(tile)};
    }

    /// body(tile, bitmap) for each tile, by tickets.
    template <class Body>
    void for_each_tile(executor& threads, const scan_limits& limits, const Body& body) {
        const bool alone =
            static_cast<std::size_t>(shape_.items) * sizeof(T) < limits.threads_from_bytes;
        const core::index_t workers =
            alone ? 1 : std::min<core::index_t>(threads.threads(), shape_.tiles());
        threads.for_each(static_cast<std::size_t>(workers), [&](std::size_t /*worker*/) {
            scratch own(memory_, static_cast<std::size_t>(shape_.tile_items));
            for (;;) {
                const core::index_t tile = ticket_.fetch_add(1, std::memory_order_relaxed);
                if (tile >= shape_.tiles()) return;
                body(tile, own);
            }
        });
    }

    void publish(core::index_t tile, core::tile_state state, T value) {
        core::publish<codec, host_access>(slots_, tile, epoch, state, value);
    }

    /// Publishes what the tile's last segment has inside the tile, and returns what the tile's
    /// first segment has before it (with init; of no meaning where the tile begins with a head).
    T value_before(core::index_t tile, const tile_heads& heads) {
        const core::index_t begin = shape_.begin(tile);
        const core::index_t open = heads.any() ? heads.last() : begin;
        const core::index_t end = begin + shape_.size(tile);
        const T aggregate = lanes_.reduce(in_ + open, static_cast<std::size_t>(end - open));
        publish(tile, heads.any() ? core::tile_state::prefix : core::tile_state::aggregate,
                aggregate);
        if (heads.at_begin()) return lanes_.identity;
        host_waiter waiter;
        using window = core::serial_window<codec, host_access, 4>;
        const T prefix =
            core::exclusive_prefix<window>(slots_, tile, epoch, lanes_.combine, waiter);
        if (!heads.any()) {
            publish(tile, core::tile_state::prefix, lanes_.combine(prefix, aggregate));
        }
        return init_ ? lanes_.combine(*init_, prefix) : prefix;
    }

    void reduce_each(core::index_t tile, const tile_heads& heads, T before, std::span<T> out) {
        const core::index_t begin = shape_.begin(tile);
        heads.for_each_end([&](std::size_t s, core::index_t first, core::index_t last) {
            const core::index_t from = std::max(first, begin);
            const T value = lanes_.reduce(in_ + from, static_cast<std::size_t>(last - from));
            out[s] = lanes_.combine(first < begin ? before : start(), value);
        });
    }

    void reduce_by_scan(core::index_t tile, const tile_heads& heads, T before, scratch& own,
                        std::span<T> out) {
        const core::index_t begin = shape_.begin(tile);
        if (own.results.empty()) {
            own.results = buffer<T>(own.memory, static_cast<std::size_t>(shape_.tile_items));
        }
        heads.mark(own.bitmap.span());
        segmented_(in_ + begin, own.results.data(), items(tile), own.bitmap.data(),
                   {before, start(), false, false});
        heads.for_each_end([&](std::size_t s, core::index_t /*first*/, core::index_t last) {
            out[s] = own.results[static_cast<std::size_t>(last - 1 - begin)];
        });
    }

    memory_resource& memory_;
    scan_lanes<T> lanes_;
    segmented_scan_function<T> segmented_;
    std::optional<T> init_;
    const T* in_;
    std::span<const std::int64_t> offsets_;
    core::tile_shape shape_;
    buffer<std::uint64_t> words_;
    core::slot_array slots_;
    std::atomic<core::index_t> ticket_{0};
};

// Pieces of this many offsets are looked through as one task.
constexpr std::size_t piece_offsets = std::size_t{1} << 16;

/// body(begin, end) for pieces of [1, offsets), in parallel.
template <class Body>
void for_each_piece(executor& threads, std::size_t offsets, const Body& body) {
    threads.for_each((offsets + piece_offsets - 1) / piece_offsets, [&](std::size_t piece) {
        body(std::max<std::size_t>(piece * piece_offsets, 1),
             std::min((piece + 1) * piece_offsets, offsets));
    });
}

/// Sums and products of reals by the fixed tree; minima and maxima have the same bits in any order.
template <class T>
bool follows_tree(const scan_options<T>& options) {
    return std::is_floating_point_v<T> && options.reproducible && !depends_on_sign(options.op);
}

}  // namespace

std::size_t first_decrease(executor& threads, std::span<const std::int64_t> offsets) {
    std::atomic<std::size_t> first{offsets.size()};
    for_each_piece(threads, offsets.size(), [&](std::size_t begin, std::size_t end) {
        bool falls = false;
        for (std::size_t s = begin; s < end; ++s) falls |= offsets[s] < offsets[s - 1];
        if (!falls) return;
        std::size_t s = begin;
        while (offsets[s] >= offsets[s - 1]) ++s;
        std::size_t known = first.load(std::memory_order_relaxed);
        while (s < known && !first.compare_exchange_weak(known, s, std::memory_order_relaxed)) {
        }
    });
    return first;
}

template <class T>
void segmented_scan(executor& threads, memory_resource& memory, std::span<const T> in,
                    std::span<const std::int64_t> offsets, std::span<T> out, bool exclusive,
                    const scan_options<T>& options, const scan_limits& limits) {
    if (in.empty()) return;
    if constexpr (std::is_floating_point_v<T>) {
        if (follows_tree(options)) {
            segmented_reproducible(
                threads, memory, in, offsets, out,
                exclusive ? segment_result::exclusive : segment_result::inclusive, options, limits);
            return;
        }
    }
    with_code_type<T>(options.op, [&](auto item) {
        using U = decltype(item);
        segmented_tiles<U> tiles(memory, items_as<const U>(in), offsets, options.op,
                                 value_as<U>(options.init), limits);
        tiles.scan(threads, limits, items_as<U>(out), exclusive);
    });
}

template <class T>
void segmented_reduce(executor& threads, memory_resource& memory, std::span<const T> in,
                      std::span<const std::int64_t> offsets, std::span<T> out, T empty,
                      const scan_options<T>& options, const scan_limits& limits) {
    for_each_piece(threads, offsets.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t s = begin; s < end; ++s) {
            if (offsets[s] == offsets[s - 1]) out[s - 1] = empty;
        }
    });
    if (in.empty()) return;
    if constexpr (std::is_floating_point_v<T>) {
        if (follows_tree(options)) {
            segmented_reproducible(threads, memory, in, offsets, out, segment_result::total,
                                   options, limits);
            return;
        }
    }
    with_code_type<T>(options.op, [&](auto item) {
        using U = decltype(item);
        segmented_tiles<U> tiles(memory, items_as<const U>(in), offsets, options.op,
                                 value_as<U>(options.init), limits);
        tiles.reduce(threads, limits, items_as<U>(out));
    });
}

#define LOOKBACK_SCANNABLE(T)                                                       \
    template void segmented_scan(executor&, memory_resource&, std::span<const T>,   \
                                 std::span<const std::int64_t>, std::span<T>, bool, \
                                 const scan_options<T>&, const scan_limits&);       \
    template void segmented_reduce(executor&, memory_resource&, std::span<const T>, \
                                   std::span<const std::int64_t>, std::span<T>, T,  \
                                   const scan_options<T>&, const scan_limits&)

LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_SCANNABLE);
#undef LOOKBACK_SCANNABLE

}  // namespace lookback::cpu
