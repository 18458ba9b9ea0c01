// Tests: the reproducible tree of kernels/core/reproducible_tree.hpp, written out serially.
// Invariant: an absent part is absent here, never an identity; nothing is shared with a backend.
#pragma once

#include <lookback/kernels/core/reproducible_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lookback::test {

/// T may be a pair of an item of ItemBytes and something else.
template <class T, class Op, std::size_t ItemBytes = sizeof(T)>
class reproducible_reference {
public:
    explicit reproducible_reference(Op op) : op_(op) {}

    std::vector<T> scan(std::span<const T> in, bool exclusive, std::optional<T> init) const {
        std::vector<T> out;
        out.reserve(in.size());
        part groups = init;
        for_pieces(in, std::size_t{tree::tile_items} * tree::group_tiles, [&](auto group) {
            groups = join(groups, scan_group(group, groups, exclusive, out));
        });
        return out;
    }

private:
    using tree = core::reproducible_tree<ItemBytes>;
    using part = std::optional<T>;

    part join(part earlier, part later) const {
        if (!earlier) return later;
        if (!later) return earlier;
        return op_(*earlier, *later);
    }

    template <class Body>
    static void for_pieces(std::span<const T> items, std::size_t size, const Body& body) {
        for (std::size_t begin = 0; begin < items.size(); begin += size) {
            body(items.subspan(begin, std::min(size, items.size() - begin)));
        }
    }

    /// Kogge-Stone over up to 32 values: the combination up to each of them.
    std::vector<T> kogge_stone(std::vector<T> values) const {
        for (std::size_t step = 1; step < 32; step *= 2) {
            const std::vector<T> before = values;
            for (std::size_t i = step; i < values.size(); ++i) {
                values[i] = op_(before[i - step], before[i]);
            }
        }
        return values;
    }

    /// Appends the results of one group; returns its total.
    part scan_group(std::span<const T> items, part groups, bool exclusive,
                    std::vector<T>& out) const {
        part chunks;
        for_pieces(items, std::size_t{tree::tile_items} * 32, [&](auto chunk) {
            std::vector<T> totals;
            for_pieces(chunk, tree::tile_items,
                       [&](auto tile) { totals.push_back(*scan_tile(tile, {}, true, nullptr)); });
            const std::vector<T> up_to = kogge_stone(totals);
            std::size_t number = 0;
            for_pieces(chunk, tree::tile_items, [&](auto tile) {
                const part in_chunk = number == 0 ? part() : part(up_to[number - 1]);
                scan_tile(tile, join(groups, join(chunks, in_chunk)), exclusive, &out);
                ++number;
            });
            chunks = join(chunks, up_to.back());
        });
        return chunks;
    }

    /// Appends the results of one tile, where `out` is given; returns its total.
    part scan_tile(std::span<const T> items, part before_tile, bool exclusive,
                   std::vector<T>* out) const {
        part before_warp;
        for_pieces(items, tree::warp_items, [&](auto warp) {
            part before_row;
            for_pieces(warp, tree::row_items, [&](auto row) {
                const part before = join(join(before_tile, before_warp), before_row);
                before_row = join(before_row, scan_row(row, before, exclusive, out));
            });
            before_warp = join(before_warp, before_row);
        });
        return before_warp;
    }

    part scan_row(std::span<const T> items, part before, bool exclusive,
                  std::vector<T>* out) const {
        std::vector<T> totals;
        for_pieces(items, tree::lane_items, [&](auto lane) {
            T total = lane[0];
            for (std::size_t i = 1; i < lane.size(); ++i) total = op_(total, lane[i]);
            totals.push_back(total);
        });
        const std::vector<T> up_to = kogge_stone(totals);
        std::size_t number = 0;
        for_pieces(items, tree::lane_items, [&](auto lane) {
            const part start = join(before, number == 0 ? part() : part(up_to[number - 1]));
            part in_lane;
            for (const T item : lane) {
                const part with_item = join(in_lane, item);
                if (out != nullptr) out->push_back(*join(start, exclusive ? in_lane : with_item));
                in_lane = with_item;
            }
            ++number;
        });
        return up_to.back();
    }

    Op op_;
};

}  // namespace lookback::test
