// CPU backend: tiles of the reproducible tree, compiled for each SIMD target.
#include "cpu/vector_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/tree_lanes.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first: it includes this file once more for each target.
#include "cpu/lane_operators-inl.hpp"
#include "cpu/tree_lanes.hpp"

#include <lookback/kernels/core/reproducible_tree.hpp>

#include <algorithm>
#include <cstdint>

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {

/// The items of N lanes of the tree: part k holds each lane's first k + 1 items, combined.
template <class T>
struct lane_parts {
    using tree = core::reproducible_tree<sizeof(T)>;
    using D = hn::ScalableTag<T>;
    using V = hn::Vec<D>;
    V part[tree::lane_items];

    // By hand: GCC gives implicit constructors no target, and on ARM those of vectors need one.
    HWY_INLINE lane_parts() {}  // NOLINT(modernize-use-equals-default)

    template <class Op>
    HWY_INLINE void load(Op op, const T* in) {
        const D d;
        if constexpr (tree::lane_items == 4) {
            hn::LoadInterleaved4(d, in, part[0], part[1], part[2], part[3]);
        } else {
            hn::LoadInterleaved2(d, in, part[0], part[1]);
        }
        for (int k = 1; k < tree::lane_items; ++k) part[k] = op(part[k - 1], part[k]);
    }
    HWY_INLINE void store(T* out) const {
        const D d;
        if constexpr (tree::lane_items == 4) {
            hn::StoreInterleaved4(part[0], part[1], part[2], part[3], d, out);
        } else {
            hn::StoreInterleaved2(part[0], part[1], d, out);
        }
    }
};

/// One warp of the tree: the prefix of each lane inside its row.
template <class Op, class T>
class tree_warp {
public:
    using tree = core::reproducible_tree<sizeof(T)>;

    /// Kogge-Stone by memory: a step is a load `step` lanes earlier, where identities stand before
    /// lane 0. All rows make a step before the next one, so that stores have landed when they are
    /// read. From the last vector to the first: a step reads what the one before it wrote.
    HWY_INLINE void load(const T* in) {
        const Op op;
        const D d;
        constexpr int width = static_cast<int>(hn::MaxLanes(d));
        for (int row = 0; row < tree::rows; ++row) {
            std::fill_n(lane_[row], first, Op::scalar::template identity<T>());
            for (int lane = 0; lane < tree::lanes; lane += width) {
                lane_parts<T> items;
                items.load(op, in + row * tree::row_items + lane * tree::lane_items);
                hn::Store(items.part[tree::lane_items - 1], d, lane_[row] + first + lane);
            }
        }
        for (int step = 1; step < tree::lanes; step *= 2) {
            for (int row = 0; row < tree::rows; ++row) {
                for (int lane = tree::lanes - width; lane >= 0; lane -= width) {
                    T* at = lane_[row] + first + lane;
                    hn::Store(op(hn::LoadU(d, at - step), hn::Load(d, at)), d, at);
                }
            }
        }
    }

    T row_total(int row) const { return lane_[row][first + tree::lanes - 1]; }

    /// Results of one row of items, after `before`.
    HWY_INLINE void store_row(const T* in, T* out, int row, T before, bool exclusive) const {
        const Op op;
        const D d;
        constexpr int width = static_cast<int>(hn::MaxLanes(d));
        const auto base = hn::Set(d, before);
        for (int lane = 0; lane < tree::lanes; lane += width) {
            lane_parts<T> items;
            items.load(op, in + lane * tree::lane_items);
            const auto start = op(base, hn::LoadU(d, lane_[row] + first + lane - 1));
            lane_parts<T> results;
            results.part[0] = exclusive ? start : op(start, items.part[0]);
            for (int k = 1; k < tree::lane_items; ++k) {
                results.part[k] = op(start, items.part[exclusive ? k - 1 : k]);
            }
            results.store(out + lane * tree::lane_items);
        }
    }

private:
    using D = hn::ScalableTag<T>;
    static constexpr int first = 16;  // identities before lane 0, as many as the longest step
    alignas(64) T lane_[tree::rows][first + tree::lanes];
};

template <class T>
HWY_INLINE void stream_items(const T* in, T* out, int n) {
    const hn::ScalableTag<T> d;
    const int width = static_cast<int>(hn::Lanes(d));
    for (int i = 0; i < n; i += width) hn::Stream(hn::Load(d, in + i), d, out + i);
}

/// A whole tile; out is null where only the total is wanted.
template <class Op, class T>
T whole_tile(const T* in, T* out, T before, bool exclusive, bool stream) {
    using tree = core::reproducible_tree<sizeof(T)>;
    const typename Op::scalar op;
    constexpr T nothing = Op::scalar::template identity<T>();
    alignas(64) T row_results[tree::row_items];
    T before_warp = nothing;
    for (int warp = 0; warp < tree::warps; ++warp, in += tree::warp_items) {
        tree_warp<Op, T> rows;
        rows.load(in);
        const T base = op(before, before_warp);
        T before_row = nothing;
        for (int row = 0; row < tree::rows; ++row) {
            if (out != nullptr) {
                rows.store_row(in + row * tree::row_items, stream ? row_results : out, row,
                               op(base, before_row), exclusive);
                if (stream) stream_items(row_results, out, tree::row_items);
                out += tree::row_items;
            }
            before_row = op(before_row, rows.row_total(row));
        }
        before_warp = op(before_warp, before_row);
    }
    if (stream) hwy::FlushStream();
    return before_warp;
}

/// The last tile may be short: identities stand in for what is missing.
template <class Op, class T>
T short_tile(const T* in, T* out, std::size_t n, T before, bool exclusive) {
    using tree = core::reproducible_tree<sizeof(T)>;
    alignas(64) T items[tree::tile_items];
    std::copy_n(in, n, items);
    std::fill(items + n, items + tree::tile_items, Op::scalar::template identity<T>());
    const T total =
        whole_tile<Op, T>(items, out != nullptr ? items : nullptr, before, exclusive, false);
    if (out != nullptr) std::copy_n(items, n, out);
    return total;
}

template <class Op, class T>
T tile_total(const T* in, std::size_t n) {
    constexpr T nothing = Op::scalar::template identity<T>();
    if (n < core::reproducible_tree<sizeof(T)>::tile_items) {
        return short_tile<Op, T>(in, nullptr, n, nothing, false);
    }
    return whole_tile<Op, T>(in, nullptr, nothing, false, false);
}

template <class Op, class T>
T tile_scan(const T* in, T* out, std::size_t n, T before, bool exclusive, bool stream) {
    if (n < core::reproducible_tree<sizeof(T)>::tile_items) {
        return short_tile<Op, T>(in, out, n, before, exclusive);
    }
    const bool aligned = reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
    return whole_tile<Op, T>(in, out, before, exclusive, stream && aligned);
}

template <class Op, class T>
T combine_in_tree(T earlier, T later) {
    return typename Op::scalar()(earlier, later);
}

template <class Op, class T>
tree_lanes<T> tree_of() {
    return {&tile_total<Op, T>, &tile_scan<Op, T>, &combine_in_tree<Op, T>,
            Op::scalar::template identity<T>()};
}

tree_lanes<float> tree_f32(scan_operator op) {
    return op == scan_operator::plus ? tree_of<lane_plus, float>()
                                     : tree_of<lane_multiplies, float>();
}
tree_lanes<double> tree_f64(scan_operator op) {
    return op == scan_operator::plus ? tree_of<lane_plus, double>()
                                     : tree_of<lane_multiplies, double>();
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lookback::cpu {

HWY_EXPORT(tree_f32);
HWY_EXPORT(tree_f64);

template <>
tree_lanes<float> find_tree_lanes(scan_operator op) {
    return HWY_DYNAMIC_DISPATCH(tree_f32)(op);
}

template <>
tree_lanes<double> find_tree_lanes(scan_operator op) {
    return HWY_DYNAMIC_DISPATCH(tree_f64)(op);
}

}  // namespace lookback::cpu
#endif
