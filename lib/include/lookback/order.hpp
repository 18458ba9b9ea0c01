// Public API: questions about the order of rows under the keys that sort them: is it sorted, where
// does a new key begin, which of two rows stands first.
// Invariant: the order is that of argsort() with the same keys: -0.0 equals +0.0, NaN equals NaN.
#pragma once

#include <lookback/radix_sort.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lookback {

/// The first row i >= 1 that stands out of order after row i - 1, or `rows` where there is none.
/// With `strict` a row equal to the one before it is out of order as well.
///
/// Shapes: each key has `rows` items. Traffic: each key read once, up to the disorder. Extra
/// memory: none. Throws error{invalid_argument} for keys that argsort() refuses.
std::size_t first_disorder(const context& context, std::span<const sort_key> keys, std::size_t rows,
                           bool strict = false);

/// heads[i] = 1 where row i differs from row i - 1 in any key, else 0; heads[0] = 1.
///
/// Shapes: each key has heads.size() items. Aliasing: heads overlaps no key. Traffic: each key read
/// once, one byte written a row. Extra memory: none. Throws error{invalid_argument} for keys that
/// argsort() refuses.
void mark_heads(const context& context, std::span<const sort_key> keys,
                std::span<std::uint8_t> heads);

/// The same over rows taken through an index: heads[i] tells whether row index[i] differs from row
/// index[i - 1]. Index is uint32 or int64; heads has index.size() items; the keys have `rows`
/// items, and error{invalid_argument} names the first index outside [0, rows).
template <class Index>
void mark_heads(const context& context, std::span<const sort_key> keys, std::size_t rows,
                std::span<const Index> index, std::span<std::uint8_t> heads);

/// Compares rows of two tables that have the same keys, as a merge of sorted inputs needs. It is a
/// call a pair of rows: to merge inputs that are all in memory, argsort() them side by side.
class row_comparison {
public:
    /// Throws error{invalid_argument} for keys that argsort() refuses and for tables whose keys
    /// differ in number, type, string width or order.
    row_comparison(std::span<const sort_key> left, std::span<const sort_key> right);

    /// Negative, 0 or positive: the row of the left table stands before, is equal to, or stands
    /// after that of the right table.
    int operator()(std::size_t left_row, std::size_t right_row) const;

private:
    std::vector<sort_key> left_;
    std::vector<sort_key> right_;
};

}  // namespace lookback
