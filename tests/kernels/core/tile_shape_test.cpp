// Tile shapes: tiles cover every item once, also where their number times their size would
// overflow.
#include "support/sizes.hpp"

#include <lookback/kernels/core/tile_shape.hpp>

#include <limits>

#include <gtest/gtest.h>

namespace lookback::core {
namespace {

TEST(TileShape, TilesCoverTheItemsInOrder) {
    for (const index_t tile_items : {1, 7, 1024}) {
        for (const std::size_t size : test::boundary_sizes(static_cast<std::size_t>(tile_items))) {
            const tile_shape shape{static_cast<index_t>(size), tile_items};
            index_t covered = 0;
            for (index_t tile = 0; tile < shape.tiles(); ++tile) {
                ASSERT_EQ(shape.begin(tile), covered);
                ASSERT_GT(shape.size(tile), 0);
                if (tile + 1 < shape.tiles()) {
                    ASSERT_EQ(shape.size(tile), tile_items);
                }
                covered += shape.size(tile);
            }
            ASSERT_EQ(covered, shape.items);
        }
    }
}

TEST(TileShape, LargestSizes) {
    const index_t most = std::numeric_limits<index_t>::max();
    const tile_shape shape{most, 4096};
    EXPECT_EQ(shape.tiles(), most / 4096 + 1);
    EXPECT_EQ(shape.size(shape.tiles() - 1), most % 4096);
    EXPECT_EQ((tile_shape{index_t{1} << 32, 1 << 16}.tiles()), 1 << 16);
}

}  // namespace
}  // namespace lookback::core
