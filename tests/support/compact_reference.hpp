// Tests: what a comparison of the public API means, item by item.
#pragma once

#include <lookback/compact.hpp>

namespace lookback::test {

inline constexpr comparison all_comparisons[] = {comparison::less,          comparison::less_equal,
                                                 comparison::equal,         comparison::not_equal,
                                                 comparison::greater_equal, comparison::greater};

template <class T>
bool holds(T item, comparison op, T value) {
    switch (op) {
        case comparison::less:
            return item < value;
        case comparison::less_equal:
            return item <= value;
        case comparison::equal:
            return item == value;
        case comparison::not_equal:
            return item != value;
        case comparison::greater_equal:
            return item >= value;
        case comparison::greater:
            break;
    }
    return item > value;
}

}  // namespace lookback::test
