// Level L0 (core): sorts 16 values without a branch.
// Invariant: 60 exchanges, the fewest known; with the values of one window in registers, their
// order costs two instructions an exchange. Source: Knuth, TAOCP 3, 5.3.4 (Green, 1969).
#pragma once

#include <lookback/kernels/core/platform.hpp>

#include <cstddef>
#include <utility>

namespace lookback::core {

inline constexpr int network_items = 16;

struct comparator {
    int low;
    int high;
};

inline constexpr int network_steps = 60;
inline constexpr comparator network_16[network_steps] = {
    {0, 1},   {2, 3},  {4, 5},   {6, 7},   {8, 9},   {10, 11}, {12, 13}, {14, 15}, {0, 2},  {1, 3},
    {4, 6},   {5, 7},  {8, 10},  {9, 11},  {12, 14}, {13, 15}, {0, 4},   {1, 5},   {2, 6},  {3, 7},
    {8, 12},  {9, 13}, {10, 14}, {11, 15}, {0, 8},   {1, 9},   {2, 10},  {3, 11},  {4, 12}, {5, 13},
    {6, 14},  {7, 15}, {5, 10},  {6, 9},   {3, 12},  {13, 14}, {4, 8},   {7, 11},  {1, 2},  {1, 4},
    {7, 13},  {2, 8},  {11, 14}, {2, 4},   {5, 6},   {9, 10},  {11, 13}, {3, 8},   {7, 12}, {6, 8},
    {10, 12}, {3, 5},  {7, 9},   {3, 4},   {5, 6},   {7, 8},   {9, 10},  {11, 12}, {6, 7},  {8, 9}};

template <class T>
LOOKBACK_HD constexpr void put_in_order(T& low, T& high) {
    const T less = low < high ? low : high;
    const T more = low < high ? high : low;
    low = less;
    high = more;
}

namespace detail {

template <class T, std::size_t... Step>
LOOKBACK_HD constexpr void run_network(T (&values)[network_items], std::index_sequence<Step...>) {
    (put_in_order(values[network_16[Step].low], values[network_16[Step].high]), ...);
}

}  // namespace detail

template <class T>
LOOKBACK_HD constexpr void sort_16(T (&values)[network_items]) {
    detail::run_network(values, std::make_index_sequence<network_steps>{});
}

}  // namespace lookback::core
