// Contexts and buffers: choices, refusals, reuse of memory.
#include <lookback/buffer.hpp>
#include <lookback/context.hpp>
#include <lookback/error.hpp>

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
