// h5scan's pieces: the four ragged conventions, conversions between types, overflow.
#include "common/ragged.hpp"

#include "h5scan/convert.hpp"
#include "h5scan/overflow.hpp"

#include <lookback/error.hpp>

#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace lookback::apps::h5scan {
namespace {

using integers = std::vector<std::int64_t>;

TEST(Ragged, EveryConventionFromEveryOther) {
    const integers offsets{0, 2, 2, 5, 9};
    const auto stored = [&](convention kind) -> integers {
        switch (kind) {
            case convention::offsets:
                return {0, 2, 2, 5, 9};
            case convention::ends:
                return {2, 2, 5, 9};
            case convention::starts:
                return {0, 2, 2, 5};
            case convention::counts:
                return {2, 0, 3, 4};
        }
        return {};
    };
    for (const auto kind :
         {convention::offsets, convention::ends, convention::starts, convention::counts}) {
        EXPECT_EQ(to_offsets(kind, stored(kind), 9, "x"), offsets) << name_of(kind);
        EXPECT_EQ(from_offsets(kind, offsets), stored(kind)) << name_of(kind);
        EXPECT_EQ(parse_convention("--convert", name_of(kind)), kind);
    }
}

TEST(Ragged, NoSegments) {
    const integers none;
    EXPECT_EQ(to_offsets(convention::ends, none, 0, "x"), integers{0});
    EXPECT_EQ(to_offsets(convention::starts, none, 0, "x"), integers{0});
    EXPECT_EQ(to_offsets(convention::counts, none, std::nullopt, "x"), integers{0});
    EXPECT_EQ(from_offsets(convention::counts, {0}), none);
}

std::string refusal(convention kind, const integers& values, std::optional<std::int64_t> rows) {
    try {
        to_offsets(kind, values, rows, "f.h5:/x");
    } catch (const error& failure) {
        return failure.what();
    }
    return "accepted";
}

TEST(Ragged, TheFirstFaultIsNamed) {
    EXPECT_EQ(refusal(convention::offsets, {}, 3),
              "f.h5:/x: there are no offsets; n segments have n + 1 of them");
    EXPECT_EQ(refusal(convention::offsets, {1, 3}, 3),
              "f.h5:/x: offset 0 is 1; the first segment must begin at 0");
    EXPECT_EQ(refusal(convention::offsets, {0, 3, 2, 1, 4}, 4),
              "f.h5:/x: offset 2 is 2, less than the one before it, 3");
    EXPECT_EQ(refusal(convention::offsets, {0, 3}, 4),
              "f.h5:/x: offset 1 is 3; the last must be the number of items, 4");
    EXPECT_EQ(refusal(convention::ends, {3, 2}, 2),
              "f.h5:/x: end 1 is 2, less than the one before it, 3");
    EXPECT_EQ(refusal(convention::ends, {-1, 2}, 2),
              "f.h5:/x: end 0 is -1, less than the one before it, 0");
    EXPECT_EQ(refusal(convention::starts, {0, 9}, 4),
              "f.h5:/x: start 1 is 9, behind the end of the 4 items");
    EXPECT_EQ(refusal(convention::starts, {0}, std::nullopt),
              "f.h5:/x: starts do not tell where the last segment ends; add --length N, the number "
              "of items");
    EXPECT_EQ(refusal(convention::counts, {1, -2}, 4), "f.h5:/x: count 1 is -2, negative");
    EXPECT_EQ(refusal(convention::counts, {1, 2}, 4),
              "f.h5:/x: the counts add up to 3, and there are 4 items");
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(refusal(convention::counts, {most, 1}, std::nullopt),
              "f.h5:/x: the counts up to 1 add up to more than 64 bits hold");
    EXPECT_EQ(refusal(convention::ends, {}, 4),
              "f.h5:/x: there are no segments, and there are 4 items");
}

template <class To, class From>
std::optional<std::size_t> first_bad(const std::vector<From>& from, bool wrap = false) {
    std::vector<To> to(from.size());
    return convert(std::span<const From>(from), to.data(), wrap);
}

TEST(Convert, IntegersFitExactlyOrNotAtAll) {
    EXPECT_EQ((first_bad<std::int8_t>(integers{-128, 127})), std::nullopt);
    EXPECT_EQ((first_bad<std::int8_t>(integers{0, 128})), 1U);
    EXPECT_EQ((first_bad<std::uint64_t>(integers{0, -1})), 1U);
    EXPECT_EQ((first_bad<std::uint64_t>(integers{0, -1}, true)), std::nullopt);
    EXPECT_EQ((first_bad<std::int64_t>(std::vector<std::uint64_t>{1ULL << 63})), 0U);
    EXPECT_EQ((first_bad<std::int64_t>(std::vector<double>{-0x1p63, 0x1p62, 0x1p63})), 2U);
    EXPECT_EQ((first_bad<std::int32_t>(std::vector<float>{2.0F, 2.5F})), 1U);
    EXPECT_EQ(
        (first_bad<std::int32_t>(std::vector<double>{std::numeric_limits<double>::quiet_NaN()})),
        0U);
    std::vector<float> halves(3);
    convert(std::span<const float16>(std::vector<float16>{{0x3c00}, {0xc100}, {0x0001}}),
            halves.data(), false);
    EXPECT_EQ(halves, (std::vector<float>{1.0F, -2.5F, 0x1p-24F}));
}

// The definition: the exact result in 128 bits, restarted at each segment.
template <class T>
std::optional<std::uint64_t> overflow_by_definition(scan_operator op, bool exclusive,
                                                    std::optional<T> init, const std::vector<T>& in,
                                                    const integers& offsets) {
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        __extension__ __int128 running = init.value_or(op == scan_operator::plus ? T(0) : T(1));
        for (auto i = static_cast<std::size_t>(offsets[s]);
             i < static_cast<std::size_t>(offsets[s + 1]); ++i) {
            const auto next = op == scan_operator::plus ? running + in[i] : running * in[i];
            const auto stored = exclusive ? running : next;
            if (stored != static_cast<T>(stored)) return i;
            running = next;
        }
    }
    return std::nullopt;
}

template <class T>
void check_overflow(std::mt19937& random, scan_operator op, bool exclusive) {
    const std::size_t n = random() % 40;
    std::vector<T> in(n);
    const int span = op == scan_operator::plus ? 120 : 3;
    for (auto& item : in) {
        item = static_cast<T>(static_cast<int>(random() % (span + 1)) -
                              (std::is_signed_v<T> ? span / 2 : 0));
    }
    integers offsets{0};
    while (offsets.back() < static_cast<std::int64_t>(n)) {
        offsets.push_back(std::min<std::int64_t>(static_cast<std::int64_t>(n),
                                                 offsets.back() + static_cast<int>(random() % 9)));
    }
    if (offsets.size() == 1) offsets.push_back(0);
    std::optional<T> init;
    if (random() % 2 != 0) init = static_cast<T>(random() % 100);
    std::vector<T> out(n);
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        T running = init.value_or(op == scan_operator::plus ? T(0) : T(1));
        for (auto i = static_cast<std::size_t>(offsets[s]);
             i < static_cast<std::size_t>(offsets[s + 1]); ++i) {
            const T next =
                static_cast<T>(op == scan_operator::plus ? running + in[i] : running * in[i]);
            out[i] = exclusive ? running : next;
            running = next;
        }
    }
    const scanned<T> scan{op, exclusive, init, in.data(), out, offsets};
    ASSERT_EQ(first_overflow(scan, 1), overflow_by_definition(op, exclusive, init, in, offsets));
}

TEST(Overflow, TheFirstItemThatDoesNotFit) {
    std::mt19937 random(7);
    for (int round = 0; round < 4000; ++round) {
        for (const auto op : {scan_operator::plus, scan_operator::multiplies}) {
            for (const bool exclusive : {false, true}) {
                check_overflow<std::int8_t>(random, op, exclusive);
                check_overflow<std::uint8_t>(random, op, exclusive);
                check_overflow<std::int32_t>(random, op, exclusive);
            }
        }
    }
}

TEST(Overflow, ManyThreadsFindTheSamePosition) {
    std::vector<std::uint32_t> in(1 << 20, 4096);
    std::vector<std::uint32_t> out(in.size());
    std::inclusive_scan(in.begin(), in.end(), out.begin());
    const scanned<std::uint32_t> scan{scan_operator::plus, false, {}, nullptr, out, {}};
    for (const int threads : {1, 2, 3, 7}) {
        EXPECT_EQ(first_overflow(scan, threads), (1U << 20) - 1) << threads;
    }
}

TEST(Overflow, ReductionsCountTheResultOnly) {
    const std::vector<std::int8_t> in{100, 100, -100, 1, 127, 1};
    const integers offsets{0, 3, 3, 4, 6};
    EXPECT_EQ(first_overflowing_segment<std::int8_t>(scan_operator::plus, in, offsets, {}, 2), 3U);
    EXPECT_EQ(
        first_overflowing_segment<std::int8_t>(scan_operator::plus, in, {offsets.data(), 4}, {}, 2),
        std::nullopt);
    EXPECT_EQ(first_overflowing_segment<std::int8_t>(scan_operator::multiplies, in, offsets, {}, 1),
              0U);
}

}  // namespace
}  // namespace lookback::apps::h5scan
