#include "cpu/segmented_reproducible.hpp"

#include "cpu/tile_heads.hpp"
#include "cpu/tree_walk.hpp"

#include <lookback/kernels/core/key_order.hpp>
#include <lookback/kernels/core/operators.hpp>
#include <lookback/kernels/core/tile_shape.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace lookback::cpu {
namespace {

/// A run of items: the combination since its last head, and whether there is one.
template <class T>
struct flagged {
    T value;
    core::key_bits<sizeof(T)> head;
};

/// Look-back stops at a head.
template <class Op, class T>
struct join_flagged {
    flagged<T> operator()(const flagged<T>& earlier, const flagged<T>& later) const {
        return later.head != 0 ? later : flagged<T>{Op()(earlier.value, later.value), earlier.head};
    }
};

/// The items of a segmented array, for tree_walk. Plain loops: the flags would make vectors of
/// these operators slow, and this mode is for those who must have the bits.
template <class Op, class T>
class reproducible_tiles {
public:
    using value_type = flagged<T>;
    using tree = core::reproducible_tree<sizeof(T)>;

    reproducible_tiles(std::span<const T> in, std::span<const std::int64_t> offsets,
                       std::span<T> out, segment_result result, const std::optional<T>& init)
        : in_(in.data()),
          offsets_(offsets),
          out_(out.data()),
          result_(result),
          init_(init),
          shape_{static_cast<core::index_t>(in.size()), tree::tile_items} {}

    value_type identity() const { return {Op::template identity<T>(), 0}; }
    value_type start() const { return identity(); }
    join_flagged<Op, T> combine() const { return {}; }
    core::index_t tiles() const { return shape_.tiles(); }

    value_type total(core::index_t tile) const {
        return walk_tile(tile, heads_of(tile), identity(), nullptr);
    }
    value_type scan(core::index_t tile, const value_type& before) const {
        const tile_heads heads = heads_of(tile);
        const core::index_t begin = shape_.begin(tile);
        T results[tree::tile_items];
        const value_type own = walk_tile(tile, heads, before, results);
        if (result_ == segment_result::total) {
            heads.for_each_end([&](std::size_t s, core::index_t /*first*/, core::index_t last) {
                out_[s] = results[last - 1 - begin];
            });
        } else {
            std::copy_n(results, shape_.size(tile), out_ + begin);
        }
        return own;
    }

private:
    using bitmap = std::array<std::uint64_t, tree::tile_items / 64>;

    tile_heads heads_of(core::index_t tile) const {
        return {offsets_, shape_.begin(tile), shape_.begin(tile) + shape_.size(tile)};
    }

    value_type walk_tile(core::index_t tile, const tile_heads& heads, const value_type& before,
                         T* results) const {
        bitmap marks;
        heads.mark(marks);
        const T* in = in_ + shape_.begin(tile);
        const auto items = static_cast<int>(shape_.size(tile));
        const auto join = combine();
        value_type before_warp = identity();
        for (int warp = 0; warp < items; warp += tree::warp_items) {
            value_type before_row = identity();
            const int end = std::min(warp + tree::warp_items, items);
            for (int row = warp; row < end; row += tree::row_items) {
                const value_type base = join(join(before, before_warp), before_row);
                const row_place place{in, row, std::min(row + tree::row_items, end), &marks};
                before_row = join(before_row, walk_row(place, base, results));
            }
            before_warp = join(before_warp, before_row);
        }
        return before_warp;
    }

    struct row_place {
        const T* in;
        int begin;
        int end;
        const bitmap* marks;

        value_type item(int i) const {
            return {in[i], static_cast<core::key_bits<sizeof(T)>>((*marks)[i / 64] >> i % 64 & 1)};
        }
    };

    value_type walk_row(const row_place& row, const value_type& base, T* results) const {
        const auto join = combine();
        value_type up_to[tree::lanes];
        for (int lane = 0; lane < tree::lanes; ++lane) {
            const int begin = row.begin + lane * tree::lane_items;
            up_to[lane] = identity();
            for (int i = begin; i < std::min(begin + tree::lane_items, row.end); ++i) {
                up_to[lane] = join(up_to[lane], row.item(i));
            }
        }
        for (int step = 1; step < tree::lanes; step *= 2) {
            for (int lane = tree::lanes - 1; lane >= step; --lane) {
                up_to[lane] = join(up_to[lane - step], up_to[lane]);
            }
        }
        for (int lane = 0; lane < tree::lanes && results != nullptr; ++lane) {
            const int begin = row.begin + lane * tree::lane_items;
            const value_type before = lane == 0 ? base : join(base, up_to[lane - 1]);
            value_type in_lane = identity();
            for (int i = begin; i < std::min(begin + tree::lane_items, row.end); ++i) {
                const value_type with_item = join(in_lane, row.item(i));
                results[i] = result_of(before, in_lane, with_item, row.item(i).head != 0);
                in_lane = with_item;
            }
        }
        return up_to[tree::lanes - 1];
    }

    T result_of(const value_type& before, const value_type& in_lane, const value_type& with_item,
                bool head) const {
        const bool exclusive = result_ == segment_result::exclusive;
        if (exclusive && head) return *init_;
        const T value = combine()(before, exclusive ? in_lane : with_item).value;
        return init_ ? Op()(*init_, value) : value;
    }

    const T* in_;
    std::span<const std::int64_t> offsets_;
    T* out_;
    segment_result result_;
    std::optional<T> init_;
    core::tile_shape shape_;
};

}  // namespace

template <class T>
void segmented_reproducible(executor& threads, memory_resource& memory, std::span<const T> in,
                            std::span<const std::int64_t> offsets, std::span<T> out,
                            segment_result result, const scan_options<T>& options,
                            const scan_limits& limits) {
    const bool alone = in.size_bytes() < limits.threads_from_bytes;
    if (options.op == scan_operator::plus) {
        const reproducible_tiles<core::plus, T> source(in, offsets, out, result, options.init);
        walk_tree(source, memory, threads, alone);
    } else {
        const reproducible_tiles<core::multiplies, T> source(in, offsets, out, result,
                                                             options.init);
        walk_tree(source, memory, threads, alone);
    }
}

template void segmented_reproducible(executor&, memory_resource&, std::span<const float>,
                                     std::span<const std::int64_t>, std::span<float>,
                                     segment_result, const scan_options<float>&,
                                     const scan_limits&);
template void segmented_reproducible(executor&, memory_resource&, std::span<const double>,
                                     std::span<const std::int64_t>, std::span<double>,
                                     segment_result, const scan_options<double>&,
                                     const scan_limits&);

}  // namespace lookback::cpu
