// CPU backend, compiled once a SIMD target: sorts up to 16 vectors of keys inside registers.
// Invariant: rows of a matrix become one sorted sequence, row after row. Columns are sorted by a
// network between whole rows; bitonic merges then join 2, 4, ... columns.
// Source: Blacher, Giesen and Kuehne, "Vectorized and performance-portable Quicksort" (2022).
#if defined(LOOKBACK_VECTOR_NETWORK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef LOOKBACK_VECTOR_NETWORK_INL
#undef LOOKBACK_VECTOR_NETWORK_INL
#else
#define LOOKBACK_VECTOR_NETWORK_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR

HWY_BEFORE_NAMESPACE();
namespace lookback::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr int lanes_of = static_cast<int>(hn::MaxLanes(D()));

/// Lanes of one 128-bit block, inside which shuffles are cheapest.
template <class D>
inline constexpr int block_lanes = 16 / static_cast<int>(sizeof(hn::TFromD<D>));

/// Lane i takes lane i ^ Distance.
template <int Distance, class D>
HWY_INLINE hn::Vec<D> swap_lanes(D d, hn::Vec<D> v) {
    if constexpr (Distance == 1) {
        return hn::Reverse2(d, v);
    } else if constexpr (Distance < block_lanes<D>) {
        return hn::Shuffle1032(v);
    } else if constexpr (2 * Distance == lanes_of<D>) {
        return hn::ConcatLowerUpper(d, v, v);
    } else {
        return hn::SwapAdjacentBlocks(v);
    }
}

/// Lane i comes from `upper` where i & Distance is set, else from `lower`.
template <int Distance, class D>
HWY_INLINE hn::Vec<D> choose_lanes(D d, hn::Vec<D> upper, hn::Vec<D> lower) {
    if constexpr (Distance == 1) {
        return hn::OddEven(upper, lower);
    } else if constexpr (Distance < block_lanes<D>) {
        const hn::Repartition<std::uint64_t, D> wide;
        return hn::BitCast(d, hn::OddEven(hn::BitCast(wide, upper), hn::BitCast(wide, lower)));
    } else if constexpr (2 * Distance == lanes_of<D>) {
        return hn::ConcatUpperLower(d, upper, lower);
    } else {
        return hn::OddEvenBlocks(upper, lower);
    }
}

template <int Group, class D>
HWY_INLINE hn::Vec<D> reverse_groups(D d, hn::Vec<D> v) {
    if constexpr (Group == lanes_of<D>) {
        return hn::Reverse(d, v);
    } else if constexpr (Group == 2) {
        return hn::Reverse2(d, v);
    } else if constexpr (Group == 4) {
        return hn::Reverse4(d, v);
    } else {
        return hn::Reverse8(d, v);
    }
}

template <class V>
HWY_INLINE void order_rows(V& low, V& high) {
    const V smaller = hn::Min(low, high);
    high = hn::Max(low, high);
    low = smaller;
}

struct comparator {
    int low;
    int high;
};

/// Smallest known networks (Knuth, TAOCP 3, section 5.3.4; 16 rows: Green, 60 comparators).
template <int Rows>
struct column_network;
template <>
struct column_network<1> {
    static constexpr int size = 0;
    static constexpr comparator steps[1] = {{0, 0}};
};
template <>
struct column_network<2> {
    static constexpr int size = 1;
    static constexpr comparator steps[size] = {{0, 1}};
};
template <>
struct column_network<4> {
    static constexpr int size = 5;
    static constexpr comparator steps[size] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}, {1, 2}};
};
template <>
struct column_network<8> {
    static constexpr int size = 19;
    static constexpr comparator steps[size] = {
        {0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3},
        {4, 5}, {6, 7}, {2, 4}, {3, 5}, {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
};
template <>
struct column_network<16> {
    static constexpr int size = 60;
    static constexpr comparator steps[size] = {
        {0, 1},  {2, 3},   {4, 5},  {6, 7},   {8, 9},   {10, 11}, {12, 13}, {14, 15}, {0, 2},
        {1, 3},  {4, 6},   {5, 7},  {8, 10},  {9, 11},  {12, 14}, {13, 15}, {0, 4},   {1, 5},
        {2, 6},  {3, 7},   {8, 12}, {9, 13},  {10, 14}, {11, 15}, {0, 8},   {1, 9},   {2, 10},
        {3, 11}, {4, 12},  {5, 13}, {6, 14},  {7, 15},  {5, 10},  {6, 9},   {3, 12},  {13, 14},
        {4, 8},  {7, 11},  {1, 2},  {1, 4},   {7, 13},  {2, 8},   {11, 14}, {2, 4},   {5, 6},
        {9, 10}, {11, 13}, {3, 8},  {7, 12},  {6, 8},   {10, 12}, {3, 5},   {7, 9},   {3, 4},
        {5, 6},  {7, 8},   {9, 10}, {11, 12}, {6, 7},   {8, 9}};
};

template <int Rows, class V, std::size_t... I>
HWY_INLINE void sort_columns([[maybe_unused]] V* rows, std::index_sequence<I...> /*steps*/) {
    using network = column_network<Rows>;
    (order_rows(rows[network::steps[I].low], rows[network::steps[I].high]), ...);
}

/// One bitonic step inside rows: lanes Distance apart.
template <int Distance, class D, std::size_t... Row>
HWY_INLINE void order_lanes(D d, hn::Vec<D>* rows, std::index_sequence<Row...> all) {
    if constexpr (Distance != 0) {
        const auto step = [d](hn::Vec<D> v) HWY_ATTR {
            const hn::Vec<D> other = swap_lanes<Distance>(d, v);
            return choose_lanes<Distance>(d, hn::Max(v, other), hn::Min(v, other));
        };
        ((rows[Row] = step(rows[Row])), ...);
        order_lanes<Distance / 2>(d, rows, all);
    }
}

/// Steps between rows of ever smaller parts of Part rows: row r of a part meets its mirror image,
/// Part - 1 - r, read backwards in each group of lanes. One Pair for every two rows.
template <int Part, int Group, class D, std::size_t... Pair>
HWY_INLINE void order_mirrored_rows(D d, hn::Vec<D>* rows, std::index_sequence<Pair...> pairs) {
    if constexpr (Part > 1) {
        constexpr int half = Part / 2;
        const auto step = [d](hn::Vec<D>& low, hn::Vec<D>& high) HWY_ATTR {
            high = reverse_groups<Group>(d, high);
            order_rows(low, high);
        };
        (step(rows[Pair / half * Part + Pair % half],
              rows[Pair / half * Part + Part - 1 - Pair % half]),
         ...);
        order_mirrored_rows<half, Group>(d, rows, pairs);
    }
}

/// Joins groups of Group / 2 sorted columns pairwise, up to all lanes. The later half of a group is
/// always read backwards, its rows as well as its lanes, which makes the whole bitonic.
template <int Rows, int Group, class D, std::size_t... Row>
HWY_INLINE void merge_columns(D d, hn::Vec<D>* rows, std::index_sequence<Row...> all) {
    if constexpr (Group <= lanes_of<D>) {
        order_mirrored_rows<Rows, Group>(d, rows, std::make_index_sequence<Rows / 2>());
        const auto step = [d](hn::Vec<D> v) HWY_ATTR {
            const hn::Vec<D> back = reverse_groups<Group>(d, v);
            return choose_lanes<Group / 2>(d, hn::Max(v, back), hn::Min(v, back));
        };
        ((rows[Row] = step(rows[Row])), ...);
        order_lanes<Group / 4>(d, rows, all);
        merge_columns<Rows, Group * 2>(d, rows, all);
    }
}

template <int Rows, class D>
HWY_INLINE void sort_matrix(D d, hn::Vec<D>* rows) {
    sort_columns<Rows>(rows, std::make_index_sequence<column_network<Rows>::size>());
    merge_columns<Rows, 2>(d, rows, std::make_index_sequence<Rows>());
}

/// Sanitizers make each of the thousands of inlined steps ten times as large, which takes minutes
/// to compile and finds nothing: what a network reads and writes is tested in release builds.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool plain_networks = true;
#else
inline constexpr bool plain_networks = false;
#endif

/// The lanes of a row that hold keys, of `count` keys in all.
template <int Row, class D>
HWY_INLINE hn::Mask<D> valid_lanes(D d, std::size_t count) {
    constexpr std::size_t before = static_cast<std::size_t>(Row) * lanes_of<D>;
    return hn::FirstN(d, count > before ? count - before : 0);
}

/// Lanes without a key become greatest keys. The first half of the rows is always full.
template <int Rows, int Row, class D>
HWY_INLINE hn::Vec<D> load_row(D d, const hn::TFromD<D>* in, std::size_t count) {
    const auto* from = in + static_cast<std::size_t>(Row) * lanes_of<D>;
    if constexpr (Row < Rows / 2) {
        return hn::LoadU(d, from);
    } else {
        const auto valid = valid_lanes<Row>(d, count);
        return hn::IfThenElse(valid, hn::MaskedLoad(valid, d, from),
                              hn::Set(d, std::numeric_limits<hn::TFromD<D>>::max()));
    }
}

template <int Rows, int Row, class D>
HWY_INLINE void store_row(D d, hn::Vec<D> row, hn::TFromD<D>* out, std::size_t count) {
    auto* to = out + static_cast<std::size_t>(Row) * lanes_of<D>;
    if constexpr (Row < Rows / 2) {
        hn::StoreU(row, d, to);
    } else {
        hn::BlendedStore(row, valid_lanes<Row>(d, count), d, to);
    }
}

/// Sorts `count` keys, more than half of Rows vectors and at most all of them, from `in` to `out`,
/// which may be the same place. Touches nothing beyond count.
template <int Rows, class D>
HWY_NOINLINE void sort_rows(D d, const hn::TFromD<D>* in, std::size_t count, hn::TFromD<D>* out) {
    if constexpr (plain_networks) {
        if (out != in) std::copy(in, in + count, out);
        std::sort(out, out + count);
    } else {
        hn::Vec<D> rows[Rows];
        [&]<std::size_t... Row>(std::index_sequence<Row...> /*all*/) HWY_ATTR {
            ((rows[Row] = load_row<Rows, Row>(d, in, count)), ...);
            sort_matrix<Rows>(d, rows);
            (store_row<Rows, Row>(d, rows[Row], out, count), ...);
        }
        (std::make_index_sequence<Rows>());
    }
}

/// The most keys that sort_few() takes.
template <class D>
inline constexpr std::size_t few_keys = 16 * static_cast<std::size_t>(lanes_of<D>);

/// Sorts up to few_keys keys from `in` to `out`, which may be the same place.
template <class D>
HWY_INLINE void sort_few(D d, const hn::TFromD<D>* in, std::size_t count, hn::TFromD<D>* out) {
    constexpr std::size_t lanes = lanes_of<D>;
    if (count > 8 * lanes) {
        sort_rows<16>(d, in, count, out);
    } else if (count > 4 * lanes) {
        sort_rows<8>(d, in, count, out);
    } else if (count > 2 * lanes) {
        sort_rows<4>(d, in, count, out);
    } else if (count > lanes) {
        sort_rows<2>(d, in, count, out);
    } else {
        sort_rows<1>(d, in, count, out);
    }
}

}  // namespace lookback::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // not HWY_SCALAR, which has no lanes to shuffle

#endif  // per target
