// Keys sorted on a GPU between a reader and a writer, and long copies in pieces, against
// std::stable_sort and the bytes themselves.
#include "support/backend_context.hpp"
#include "support/generators.hpp"
#include "support/stream_test.hpp"

#include <lookback/buffer.hpp>

#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace lookback {
namespace {

using test::distribution;
using test::stream_case;
using test::stream_test;

class CudaStream : public testing::Test {
protected:
    void SetUp() override { test::open_context(backend::cuda, gpu_); }

    template <class Key>
    void expect_sorted(distribution shape, std::size_t n, const stream_case& how) const {
        stream_test<Key> run(test::generate<Key>(shape, n), how);
        EXPECT_TRUE(sort_stream(*gpu_, run.stream));
        run.check(std::to_string(n) + " keys in blocks of " + std::to_string(how.block));
    }

    std::optional<context> gpu_;
};

constexpr std::size_t piece_keys = std::size_t{1} << 20;  // of four bytes

TEST_F(CudaStream, EqualsTheStableSort) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, piece_keys - 1,
                                piece_keys + 1, 40 * piece_keys + 17}) {
        expect_sorted<std::uint32_t>(distribution::uniform, n, {});
    }
    expect_sorted<double>(distribution::specials, 3 * piece_keys, {4, 1, {true, true}});
    expect_sorted<std::int64_t>(distribution::zipf, 2 * piece_keys, {4, 1, {true, false}});
    expect_sorted<std::uint8_t>(distribution::uniform, 9 * piece_keys, {});
    expect_sorted<std::int16_t>(distribution::reversed, 3 * piece_keys, {});
}

TEST_F(CudaStream, PiecesAreWholeBlocks) {
    constexpr std::size_t block = 70'001;
    stream_test<std::uint32_t> run(test::generate<std::uint32_t>(distribution::uniform, 5'000'000),
                                   {2, block, {}});
    const auto read = run.stream.read;
    run.stream.read = [&](std::size_t first, std::size_t count, void* into) {
        EXPECT_EQ(first % block, 0U);
        read(first, count, into);
    };
    EXPECT_TRUE(sort_stream(*gpu_, run.stream));
    run.check("blocks");
}

TEST_F(CudaStream, WhatAFunctionThrowsIsThrownOn) {
    for (const bool reading : {true, false}) {
        stream_test<std::uint32_t> run(
            test::generate<std::uint32_t>(distribution::uniform, 40 * piece_keys), {});
        const auto refuse = [&](std::size_t first, std::size_t /*count*/, auto /*keys*/) {
            if (first >= 7 * piece_keys) throw std::domain_error("no more");
        };
        if (reading) run.stream.read = refuse;
        if (!reading) run.stream.write = refuse;
        EXPECT_THROW(sort_stream(*gpu_, run.stream), std::domain_error);
    }
    expect_sorted<std::uint32_t>(distribution::uniform, 2 * piece_keys, {});  // works on
}

TEST_F(CudaStream, LongCopiesGoInPieces) {
    const auto there_and_back =
        test::generate<std::uint8_t>(distribution::uniform, (65 << 20) + 13);
    const buffer<std::uint8_t> there(*gpu_, there_and_back.size());
    gpu_->copy(there.data(), there_and_back.data(), there.size());
    std::vector<std::uint8_t> back(there.size() + 1, 7);
    gpu_->copy(back.data(), there.data(), there.size());
    EXPECT_EQ(std::memcmp(back.data(), there_and_back.data(), there.size()), 0);
    EXPECT_EQ(back.back(), 7);
}

TEST_F(CudaStream, FreeMemoryCountsWhatTheContextHolds) {
    const std::size_t before = gpu_->free_memory();
    EXPECT_GT(before, std::size_t{1} << 30);
    constexpr std::size_t held = std::size_t{256} << 20;
    const buffer<std::byte> block(*gpu_, held);
    gpu_->synchronize();
    EXPECT_LE(gpu_->free_memory(), before - held / 2);
}

}  // namespace
}  // namespace lookback
