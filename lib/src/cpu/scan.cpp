#include "cpu/scan.hpp"

#include "cpu/host_access.hpp"
#include "cpu/scan_lanes.hpp"
#include "cpu/scan_reproducible.hpp"
#include "cpu/sign_free.hpp"
#include "item_list.hpp"

#include <lookback/buffer.hpp>
#include <lookback/kernels/core/tile_shape.hpp>

#include <algorithm>
#include <atomic>
#include <type_traits>

namespace lookback::cpu {
namespace {

/// What all tiles of one scan share.
template <class T>
class tiled_scan {
public:
    using codec = core::tagged_codec<T>;

    tiled_scan(memory_resource& memory, std::span<const T> in, std::span<T> out,
               std::size_t tile_bytes)
        : in_(in.data()),
          out_(out.data()),
          shape_{static_cast<core::index_t>(in.size()),
                 static_cast<core::index_t>(tile_bytes / sizeof(T))},
          words_(memory, static_cast<std::size_t>(shape_.tiles() * line_words)),
          slots_{words_.data(), line_words} {
        // Whatever this memory held before, it does not look like a published tile.
        std::fill(words_.begin(), words_.end(), 0);
    }

    core::index_t tiles() const { return shape_.tiles(); }

    /// What one thread does: tiles in the order of their tickets, so that every earlier tile
    /// belongs to a thread that is running.
    void work(const scan_lanes<T>& lanes, const std::optional<T>& init, bool exclusive,
              bool stream) {
        core::index_t tile = take_ticket();
        if (tile >= tiles()) return;
        T aggregate = lanes.reduce(in_ + shape_.begin(tile), items(tile));
        while (tile < tiles()) {
            const T before = value_before(tile, aggregate, lanes, init);
            const core::index_t begin = shape_.begin(tile);
            const core::index_t next = take_ticket();
            // Nobody asks for the last tile's aggregate.
            const T* ahead = next + 1 < tiles() ? in_ + shape_.begin(next) : nullptr;
            aggregate = lanes.scan(in_ + begin, out_ + begin, items(tile), before,
                                   {exclusive, stream, ahead});
            tile = next;
        }
    }

private:
    core::index_t take_ticket() { return ticket_.fetch_add(1, std::memory_order_relaxed); }

    std::size_t items(core::index_t tile) const {
        return static_cast<std::size_t>(shape_.size(tile));
    }

    /// Publishes the tile's aggregate, looks back, publishes its prefix (both without init).
    T value_before(core::index_t tile, T aggregate, const scan_lanes<T>& lanes,
                   const std::optional<T>& init) {
        using window = core::serial_window<codec, host_access, 4>;
        constexpr std::uint32_t epoch = 1;
        if (tile == 0) {
            core::publish<codec, host_access>(slots_, tile, epoch, core::tile_state::prefix,
                                              aggregate);
            return init.value_or(lanes.identity);
        }
        core::publish<codec, host_access>(slots_, tile, epoch, core::tile_state::aggregate,
                                          aggregate);
        host_waiter waiter;
        const T prefix = core::exclusive_prefix<window>(slots_, tile, epoch, lanes.combine, waiter);
        core::publish<codec, host_access>(slots_, tile, epoch, core::tile_state::prefix,
                                          lanes.combine(prefix, aggregate));
        return init ? lanes.combine(*init, prefix) : prefix;
    }

    const T* in_;
    T* out_;
    core::tile_shape shape_;
    buffer<std::uint64_t> words_;
    core::slot_array slots_;
    std::atomic<core::index_t> ticket_{0};
};

template <class T>
void scan_as(executor& threads, memory_resource& memory, std::span<const T> in, std::span<T> out,
             bool exclusive, const scan_limits& limits, scan_operator op,
             const std::optional<T>& init) {
    const scan_lanes<T> lanes = find_scan_lanes<T>(op);
    const bool stream = limits.streams(in, out);
    if (threads.threads() == 1 || in.size_bytes() < limits.threads_from_bytes) {
        lanes.scan(in.data(), out.data(), in.size(), init.value_or(lanes.identity),
                   {exclusive, stream, nullptr});
        return;
    }
    tiled_scan<T> tiled(memory, in, out, limits.tile_bytes);
    const auto workers = std::min<core::index_t>(threads.threads(), tiled.tiles());
    threads.for_each(static_cast<std::size_t>(workers),
                     [&](std::size_t /*worker*/) { tiled.work(lanes, init, exclusive, stream); });
}

}  // namespace

template <class T>
void scan(executor& threads, memory_resource& memory, std::span<const T> in, std::span<T> out,
          bool exclusive, const scan_options<T>& options, const scan_limits& limits) {
    if (in.empty()) return;
    if constexpr (std::is_floating_point_v<T>) {
        // Minima and maxima have the same bits in any order.
        if (options.reproducible && !depends_on_sign(options.op)) {
            scan_reproducible(threads, memory, in, out, exclusive, options, limits);
            return;
        }
    }
    with_code_type<T>(options.op, [&](auto item) {
        using U = decltype(item);
        scan_as<U>(threads, memory, items_as<const U>(in), items_as<U>(out), exclusive, limits,
                   options.op, value_as<U>(options.init));
    });
}

#define LOOKBACK_SCANNABLE(T)                                                               \
    template void scan(executor&, memory_resource&, std::span<const T>, std::span<T>, bool, \
                       const scan_options<T>&, const scan_limits&)

LOOKBACK_FOR_ARITHMETIC_ITEMS(LOOKBACK_SCANNABLE);
#undef LOOKBACK_SCANNABLE

}  // namespace lookback::cpu
