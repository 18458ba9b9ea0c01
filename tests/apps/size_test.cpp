// Sizes and counts as typed.
#include "common/size.hpp"

#include <lookback/error.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace lookback::apps {
namespace {

TEST(Size, Units) {
    EXPECT_EQ(parse_size("-S", "4096", 0), 4096U);
    EXPECT_EQ(parse_size("-S", "64B", 0), 64U);
    EXPECT_EQ(parse_size("-S", "1k", 0), 1024U);
    EXPECT_EQ(parse_size("-S", "1.5G", 0), 3ULL << 29);
    EXPECT_EQ(parse_size("-S", "2GiB", 0), 2ULL << 30);
    EXPECT_EQ(parse_size("-S", "3GB", 0), 3'000'000'000ULL);
    EXPECT_EQ(parse_size("-S", "1T", 0), 1ULL << 40);
}

TEST(Size, Percent) {
    EXPECT_EQ(parse_size("-S", "50%", 1000), 500U);
    EXPECT_EQ(parse_size("-S", "100%", 1000), 1000U);
    EXPECT_THROW(parse_size("-S", "101%", 1000), error);
}

TEST(Size, RefusalsNameOptionAndText) {
    for (const char* text :
         {"", "G", "-1", "0", "1.5X", "1 G", "nan", "inf", "1e30", "5%%", "GiB"}) {
        try {
            parse_size("--memory", text, 1 << 30);
            FAIL() << text << " was accepted";
        } catch (const error& failure) {
            const std::string message = failure.what();
            EXPECT_NE(message.find("--memory"), std::string::npos);
            EXPECT_NE(message.find("'" + std::string(text) + "'"), std::string::npos);
        }
    }
}

TEST(Count, WholeNumbersOnly) {
    EXPECT_EQ(parse_count("--head", "10", 0), 10);
    EXPECT_EQ(parse_count("--head", "0", 0), 0);
    EXPECT_EQ(parse_count("--head", "9223372036854775807", 0), INT64_MAX);
    for (const char* text : {"", "-1", "1.5", "10x", "9223372036854775808", "+1", " 1"}) {
        EXPECT_THROW(parse_count("--head", text, 0), error) << text;
    }
    EXPECT_THROW(parse_count("--threads", "0", 1), error);
}

TEST(SizeText, Reads) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(1023), "1023 B");
    EXPECT_EQ(size_text(3ULL << 29), "1.50 GiB");
}

TEST(Memory, PeakGrowsWithUse) {
    const std::uint64_t before = peak_memory();
    ASSERT_GT(before, 0U);
    const std::vector<char> block(64 << 20, 'x');
    EXPECT_GE(peak_memory(), before + (32 << 20));
    EXPECT_GT(memory_of_machine(), block.size());
}

}  // namespace
}  // namespace lookback::apps
