// The look-back protocol alone: many tiles, many threads, late starts, random delays, tiles that
// never publish. Every prefix is compared with a serial one.
#include "support/bracket_monoid.hpp"
#include "support/sizes.hpp"

#include <lookback/kernels/core/lookback.hpp>
#include <lookback/kernels/core/operators.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::core {
namespace {

constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

struct test_access {
    static std::uint64_t store(std::uint64_t* word, std::uint64_t value) {
        return std::atomic_ref(*word).exchange(value, std::memory_order_relaxed);
    }
    static std::uint64_t load(std::uint64_t* word) {
        return std::atomic_ref(*word).load(std::memory_order_relaxed);
    }
    static bool install(std::uint64_t* word, std::uint64_t expected, std::uint64_t desired) {
        return std::atomic_ref(*word).compare_exchange_strong(expected, desired,
                                                              std::memory_order_relaxed);
    }
    static void pause(std::uint32_t polls) {
        if (polls > 8) std::this_thread::yield();
    }
};

/// The same, giving the core away between two words now and then, so that readers see torn slots.
struct tearing_access : test_access {
    static std::uint64_t store(std::uint64_t* word, std::uint64_t value) {
        thread_local std::uint64_t stores = 0;
        if (mix(++stores) % 64 == 0) std::this_thread::yield();
        return test_access::store(word, value);
    }
};

/// A value for each tile: brackets of any width, or a count.
template <class T>
T tile_value(index_t tile) {
    const std::uint64_t bits = mix(static_cast<std::uint64_t>(tile) + 1);
    if constexpr (std::is_same_v<T, std::uint64_t>) {
        return bits % 1000;
    } else {
        return {static_cast<decltype(T::closing)>(bits % 3),
                static_cast<decltype(T::closing)>(bits / 3 % 3)};
    }
}

/// Helps a tile that is late. `helped` counts installations.
template <class Codec, class Access>
struct helping_waiter {
    slot_array slots;
    std::uint32_t epoch;
    std::atomic<index_t>& helped;

    void stalled(index_t tile, std::uint32_t polls) const {
        if (polls < 4) return;
        const auto value = tile_value<typename Codec::value_type>(tile);
        if (install<Codec, Access>(slots, tile, epoch, value)) {
            helped.fetch_add(1, std::memory_order_relaxed);
        }
    }
};

/// One use of the protocol by a number of threads.
template <class Codec, class Access, int Width, class Op>
class protocol_run {
public:
    using value_type = typename Codec::value_type;

    protocol_run(index_t tiles, index_t stride)
        : words_(static_cast<std::size_t>(tiles * stride)),
          expected_(static_cast<std::size_t>(tiles)),
          tiles_(tiles),
          slots_{words_.data(), stride} {
        value_type prefix = tile_value<value_type>(0);
        for (index_t tile = 1; tile < tiles; ++tile) {
            expected_[static_cast<std::size_t>(tile)] = prefix;
            prefix = Op()(prefix, tile_value<value_type>(tile));
        }
    }

    void clear() { std::fill(words_.begin(), words_.end(), 0); }

    /// Tiles with tile % silent == silent_rest never publish; 0: none.
    void run(int threads, std::uint32_t epoch, index_t silent = 0, index_t silent_rest = 0) {
        ticket_ = wrong_ = helped_ = 0;
        silent_ = silent;
        silent_rest_ = silent_rest;
        std::vector<std::thread> pool;
        for (int thread = 0; thread < threads; ++thread) {
            pool.emplace_back([=, this] {
                const auto late = mix(epoch * 1000U + static_cast<unsigned>(thread)) % 2000;
                std::this_thread::sleep_for(std::chrono::microseconds(late));
                while (work(epoch)) {
                }
            });
        }
        for (std::thread& thread : pool) thread.join();
    }

    index_t wrong() const { return wrong_; }
    index_t helped() const { return helped_; }

private:
    bool work(std::uint32_t epoch) {
        const index_t tile = ticket_.fetch_add(1, std::memory_order_relaxed);
        if (tile >= tiles_) return false;
        if (silent_ != 0 && tile % silent_ == silent_rest_) return true;
        const auto delay = mix(static_cast<std::uint64_t>(tile) * 77 + epoch) % 512;
        if (delay == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
        if (delay < 8) std::this_thread::yield();
        const auto value = tile_value<value_type>(tile);
        if (tile == 0) {
            publish<Codec, Access>(slots_, tile, epoch, tile_state::prefix, value);
            return true;
        }
        publish<Codec, Access>(slots_, tile, epoch, tile_state::aggregate, value);
        const value_type prefix = look_back(tile, epoch);
        if (prefix != expected_[static_cast<std::size_t>(tile)]) ++wrong_;
        publish<Codec, Access>(slots_, tile, epoch, tile_state::prefix, Op()(prefix, value));
        return true;
    }

    value_type look_back(index_t tile, std::uint32_t epoch) {
        using window = serial_window<Codec, Access, Width>;
        if (silent_ != 0) {
            helping_waiter<Codec, Access> waiter{slots_, epoch, helped_};
            return exclusive_prefix<window>(slots_, tile, epoch, Op(), waiter);
        }
        patient_waiter waiter;
        return exclusive_prefix<window>(slots_, tile, epoch, Op(), waiter);
    }

    std::vector<std::uint64_t> words_;
    std::vector<value_type> expected_;
    index_t tiles_;
    slot_array slots_;
    index_t silent_ = 0;
    index_t silent_rest_ = 0;
    std::atomic<index_t> ticket_{0};
    std::atomic<index_t> wrong_{0};
    std::atomic<index_t> helped_{0};
};

using brackets16 = test::brackets<std::uint16_t>;
using brackets32 = test::brackets<std::uint32_t>;
using brackets64 = test::brackets<std::uint64_t>;
constexpr index_t many_tiles = test::sanitized ? index_t{1} << 15 : index_t{1} << 18;

TEST(Lookback, MillionTilesFromOneToSixtyFourThreads) {
    protocol_run<count_codec, test_access, 8, plus> counts(index_t{1} << 20, 1);
    const std::vector<int> all = {1, 2, 3, 7, 16, 64};
    const std::vector<int> few = {2, 64};
    for (const int threads : test::sanitized ? few : all) {
        counts.clear();
        counts.run(threads, 0);
        EXPECT_EQ(counts.wrong(), 0) << threads << " threads";
    }
}

/// Epochs follow each other, and end at the last one, on slots that are never reset.
template <class T, int Width>
void expect_order_kept(index_t tiles, index_t stride) {
    using codec = tagged_codec<T>;
    protocol_run<codec, tearing_access, Width, test::join_brackets> run(tiles, stride);
    std::uint32_t epoch = 1;
    for (const int threads : {1, 4, 64}) {
        run.run(threads, epoch);
        EXPECT_EQ(run.wrong(), 0) << threads << " threads, epoch " << epoch;
        epoch = epoch == 2 ? (1U << 30) - 1 : epoch + 1;
    }
}

TEST(Lookback, OneWordOfAnOrderedMonoid) {
    static_assert(tagged_codec<brackets16>::words == 1);
    expect_order_kept<brackets16, 8>(many_tiles, 1);
}

TEST(Lookback, TwoWordsOfAnOrderedMonoid) {
    static_assert(tagged_codec<brackets32>::words == 2);
    expect_order_kept<brackets32, 8>(many_tiles, 2);
}

TEST(Lookback, FourWordsOfAnOrderedMonoid) {
    static_assert(tagged_codec<brackets64>::words == 4);
    expect_order_kept<brackets64, 8>(many_tiles, 8);
}

TEST(Lookback, WindowsOfOneFourAndThirtyTwo) {
    expect_order_kept<brackets32, 1>(many_tiles / 16, 2);
    expect_order_kept<brackets32, 4>(many_tiles / 16, 3);
    expect_order_kept<brackets32, 32>(many_tiles / 16, 8);
    for (const index_t tiles : {1, 2, 3, 31, 32, 33, 34, 65}) {
        expect_order_kept<brackets32, 32>(tiles, 2);
        expect_order_kept<brackets32, 4>(tiles, 2);
    }
}

/// Tiles that never publish, the first one among them: whoever needs them helps, once each.
template <class T, int Width>
void expect_help(index_t tiles) {
    using codec = tagged_codec<T>;
    protocol_run<codec, tearing_access, Width, test::join_brackets> run(tiles, codec::words);
    std::uint32_t epoch = 1;
    for (const index_t silent : {2, 3, 16, 512}) {
        for (const index_t rest : {index_t{0}, silent - 1}) {
            for (const int threads : {1, 4, 64}) {
                run.run(threads, epoch++, silent, rest);
                EXPECT_EQ(run.wrong(), 0) << "1 in " << silent << ", " << threads << " threads";
                // The last tile is needed by nobody.
                const index_t needed = (tiles - 1 - rest + silent - 1) / silent;
                EXPECT_GE(run.helped(), needed) << "1 in " << silent;
            }
        }
    }
}

TEST(Lookback, TilesThatNeverPublishAreHelped) {
    expect_help<brackets16, 8>(5000);
    expect_help<brackets32, 32>(5000);
    expect_help<brackets64, 1>(5000);
}

TEST(Lookback, AHelperCompletesWhatAnotherOneBegan) {
    using codec = tagged_codec<brackets64>;
    std::vector<std::uint64_t> words(8, 0x1234);
    const slot_array slots{words.data(), 4};
    const brackets64 value{7, (std::uint64_t{9} << 32) + 1};
    words[4] = codec::encode(tile_state::helped, 5, value, 0);
    words[5] = codec::encode(tile_state::helped, 5, value, 1);
    EXPECT_EQ((poll<codec, test_access>(slots, 1, 5).state), tile_state::empty);
    EXPECT_FALSE((install<codec, test_access>(slots, 1, 5, value)));
    EXPECT_EQ((poll<codec, test_access>(slots, 1, 5).state), tile_state::helped);
    EXPECT_EQ((poll<codec, test_access>(slots, 1, 5).value), value);
    EXPECT_TRUE((install<codec, test_access>(slots, 0, 5, value)));
}

TEST(Lookback, AnOwnersWordsStandAgainstHelpers) {
    using codec = tagged_codec<brackets32>;
    std::vector<std::uint64_t> words(2);
    const slot_array slots{words.data(), 2};
    publish<codec, test_access>(slots, 0, 3, tile_state::prefix, brackets32{1, 2});
    EXPECT_FALSE((install<codec, test_access>(slots, 0, 3, brackets32{3, 4})));
    EXPECT_EQ((poll<codec, test_access>(slots, 0, 3).value), (brackets32{1, 2}));

    std::vector<std::uint64_t> count(1);
    const slot_array count_slots{count.data(), 1};
    EXPECT_TRUE((install<count_codec, test_access>(count_slots, 0, 0, 0)));
    EXPECT_FALSE((install<count_codec, test_access>(count_slots, 0, 0, 9)));
    publish<count_codec, test_access>(count_slots, 0, 0, tile_state::prefix, 11);
    EXPECT_FALSE((install<count_codec, test_access>(count_slots, 0, 0, 9)));
    EXPECT_EQ((poll<count_codec, test_access>(count_slots, 0, 0).value), 11U);
}

struct throwing_report {
    void operator()(index_t tile, std::uint32_t polls) const {
        throw std::runtime_error("tile " + std::to_string(tile) + " after " +
                                 std::to_string(polls));
    }
};

TEST(Lookback, ABoundedSpinReportsTheTileThatNeverPublishes) {
    using codec = tagged_codec<std::uint32_t>;
    using window = serial_window<codec, test_access, 4>;
    std::vector<std::uint64_t> words(10);
    const slot_array slots{words.data(), 1};
    for (index_t tile = 0; tile < 9; ++tile) {
        if (tile != 3) publish<codec, test_access>(slots, tile, 1, tile_state::aggregate, 1U);
    }
    bounded_waiter<throwing_report> waiter{1000, {}};
    try {
        exclusive_prefix<window>(slots, 9, 1, plus(), waiter);
        FAIL() << "went on without tile 3";
    } catch (const std::runtime_error& report) {
        EXPECT_STREQ(report.what(), "tile 3 after 1000");
    }
    EXPECT_THROW(range_total<window>(slots, 2, 4, 1, plus(), waiter), std::runtime_error);
    publish<codec, test_access>(slots, 3, 1, tile_state::aggregate, 1U);
    EXPECT_EQ(exclusive_prefix<window>(slots, 9, 1, plus(), waiter), 9U);
    EXPECT_EQ(range_total<window>(slots, 2, 5, 1, plus(), waiter), 3U);
}

}  // namespace
}  // namespace lookback::core
