// Contexts and buffers: choices, refusals, reuse of memory.
#include <lookback/buffer.hpp>
#include <lookback/context.hpp>
#include <lookback/error.hpp>

#include <algorithm>
#include <cstdint>

#include <gtest/gtest.h>

namespace lookback {
namespace {

TEST(Context, CpuByNameGivesTheThreadsAskedFor) {
    const context context({.backend = backend::cpu, .threads = 3});
    EXPECT_EQ(context.active_backend(), backend::cpu);
    EXPECT_EQ(context.threads(), 3);
    EXPECT_TRUE(context.reason().empty());
}

TEST(Context, AutomaticSaysWhy) {
    const context context;
    EXPECT_NE(context.active_backend(), backend::automatic);
    EXPECT_FALSE(context.reason().empty());
    EXPECT_GE(context.threads(), 1);
}

TEST(Context, NegativeThreadsAreRefused) {
    try {
        const context context({.threads = -1});
        FAIL() << "accepted";
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
        EXPECT_NE(std::string(failure.what()).find("-1"), std::string::npos);
    }
}

TEST(Buffer, LargeBlocksAreReusedAndAligned) {
    const context context({.backend = backend::cpu});
    void* first = nullptr;
    {
        const buffer<std::uint64_t> block(context, 1 << 20);
        first = block.data();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
        block[0] = block[(1 << 20) - 1] = 7;
    }
    const buffer<std::uint64_t> again(context, 1 << 20);
    EXPECT_EQ(again.data(), first);
}

TEST(Buffer, DiscardedPagesAreWrittenAgain) {
    const context context({.backend = backend::cpu});
    const buffer<std::uint8_t> block(context, std::size_t{8} << 20);
    std::fill(block.begin(), block.end(), std::uint8_t{7});
    constexpr std::size_t from = (std::size_t{2} << 20) + 1;
    constexpr std::size_t to = (std::size_t{6} << 20) - 1;
    context.memory().discard(&block[from], to - from);
    // Whole pages within the range may be gone, nothing else.
    constexpr std::size_t page = 4096;
    EXPECT_EQ(std::count(block.begin(), &block[from] + page - 1, 7),
              static_cast<std::ptrdiff_t>(from + page - 1));
    EXPECT_EQ(std::count(&block[to - page + 1], block.end(), 7), block.size() - to + page - 1);
    EXPECT_EQ(block[std::size_t{4} << 20], 0);
    std::fill(block.begin(), block.end(), std::uint8_t{9});
    EXPECT_EQ(std::count(block.begin(), block.end(), 9), block.size());
}

TEST(Buffer, ImpossibleSizesThrowOutOfMemory) {
    const context context({.backend = backend::cpu});
    try {
        const buffer<std::uint8_t> block(context, std::size_t{1} << 61);
        FAIL() << "accepted";
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::out_of_memory);
    }
}

}  // namespace
}  // namespace lookback
