// Compaction on the CPU against std::copy_if and its kin: every type, comparison, size of row,
// instruction set and thread count; small tiles bring every boundary within reach.
#include "cpu/compact.hpp"

#include "memory/host_pool.hpp"
#include "support/compact_reference.hpp"
#include "support/generators.hpp"
#include "support/item_types.hpp"
#include "support/red_zone.hpp"
#include "support/simd_targets.hpp"
#include "support/sizes.hpp"

#include <lookback/compact.hpp>
#include <lookback/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace lookback {
namespace {

using test::all_comparisons;
using test::holds;
using test::item_types;

template <class T>
bool same_bytes(std::span<const T> a, std::span<const T> b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

// Tiles of 1 KiB, several threads and streaming whatever the size.
constexpr cpu::compact_limits tiny{1024, 4096, 0, 0};

std::vector<std::size_t> sizes_of(std::size_t row_bytes) {
    auto sizes = test::boundary_sizes(std::max<std::size_t>(1024 / row_bytes / 64, 1) * 64, 5);
    for (const std::size_t size : {31, 32, 33, 63, 64, 65, 1024}) sizes.push_back(size);
    test::sort_unique(sizes);
    return test::fewer_if_sanitized(sizes, 8);
}

template <class T>
class CompactIf : public testing::Test {};
TYPED_TEST_SUITE(CompactIf, item_types);

/// Compacts into room for exactly what passes, guarded on both sides, elsewhere or in place.
template <class T>
void expect_marked(cpu::executor& threads, std::span<const T> items, const std::vector<T>& expected,
                   bool in_place, std::size_t offset, const cpu::compact_limits& limits,
                   const std::function<cpu::block_marker(const T*)>& marker) {
    host_pool memory;
    const test::red_zone<T> in(items, offset);
    const test::red_zone<T> out(expected.size(), offset / 2);
    T* const to = in_place ? in.data() : out.data();
    const cpu::compact_column column{reinterpret_cast<const std::byte*>(in.data()), sizeof(T),
                                     reinterpret_cast<std::byte*>(to), nullptr};
    const std::size_t kept =
        cpu::compact(threads, memory, items.size(), marker(in.data()), {&column, 1}, {}, limits);
    ASSERT_EQ(kept, expected.size());
    ASSERT_TRUE(same_bytes<T>({to, kept}, expected)) << items.size() << " items";
    ASSERT_TRUE(in.intact() && out.intact());
    if (!in_place) {
        ASSERT_TRUE(same_bytes<T>(in.span(), items)) << "input changed";
    }
}

TYPED_TEST(CompactIf, EveryComparisonAtBoundariesOnEveryInstructionSet) {
    using T = TypeParam;
    cpu::executor one(1);
    cpu::executor three(3);
    test::for_each_simd_target([&](const char* target) {
        SCOPED_TRACE(target);
        std::size_t turn = 0;
        for (const std::size_t size : sizes_of(sizeof(T))) {
            for (const comparison op : all_comparisons) {
                ++turn;
                const auto shape = turn % 3 == 0   ? test::distribution::specials
                                   : turn % 3 == 1 ? test::distribution::zipf
                                                   : test::distribution::uniform;
                const auto items = test::generate<T>(shape, size, turn);
                const T value = size != 0 ? items[turn % size] : T(1);
                std::vector<T> expected;
                std::copy_if(items.begin(), items.end(), std::back_inserter(expected),
                             [&](T item) { return holds(item, op, value); });
                const auto marker = [&](const T* in) {
                    return cpu::compare_marker<T>(in, op, value);
                };
                expect_marked<T>(one, items, expected, turn % 2 == 0, turn % 5, {}, marker);
                expect_marked<T>(three, items, expected, turn % 2 == 1, turn % 7, tiny, marker);
                if (this->HasFatalFailure()) return;
            }
        }
    });
}

TYPED_TEST(CompactIf, UniqueKeepsTheFirstOfEachRun) {
    using T = TypeParam;
    cpu::executor three(3);
    const auto same = [](T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(a) && std::isnan(b)) return true;
        }
        return a == b;
    };
    test::for_each_simd_target([&](const char* target) {
        SCOPED_TRACE(target);
        std::size_t turn = 0;
        for (const std::size_t size : sizes_of(sizeof(T))) {
            for (const auto shape : {test::distribution::specials, test::distribution::all_equal,
                                     test::distribution::sorted}) {
                ++turn;
                auto items = test::generate<T>(shape, size, turn);
                // Runs of mixed lengths.
                for (std::size_t i = 1; i < size; ++i) {
                    if (i * 2654435761U % 7 < 4) items[i] = items[i - 1];
                }
                std::vector<T> expected;
                std::unique_copy(items.begin(), items.end(), std::back_inserter(expected), same);
                expect_marked<T>(three, items, expected, turn % 2 == 1, turn % 3, tiny,
                                 [](const T* in) { return cpu::heads_marker<T>(in); });
                if (this->HasFatalFailure()) return;
            }
        }
    });
}

TYPED_TEST(CompactIf, PublicFunctionsAtTheSizesThatMatter) {
    using T = TypeParam;
    for (const int threads : {1, 2, 64}) {
        const context context({.backend = backend::cpu, .threads = threads});
        for (const std::size_t size : {0, 1, 31, 32, 33, 1024, 1000003}) {
            const auto items = test::generate<T>(test::distribution::zipf, size, 3);
            const T value = T(7);
            std::vector<T> expected;
            std::copy_if(items.begin(), items.end(), std::back_inserter(expected),
                         [&](T item) { return item < value; });
            std::vector<T> out(size);
            const std::size_t kept =
                compact_if<T>(context, items, comparison::less, value, std::span<T>(out));
            ASSERT_TRUE(same_bytes<T>(std::span(out).first(kept), expected)) << size;
            std::vector<T> in_place = items;
            ASSERT_EQ(unique<T>(context, in_place, std::span<T>(in_place)),
                      static_cast<std::size_t>(
                          std::unique_copy(items.begin(), items.end(), out.begin()) - out.begin()));
        }
    }
}

/// Rows of a size that is no type's, with flags of some density.
struct row_case {
    std::size_t rows;
    std::size_t row_bytes;
    unsigned percent;
};

class CompactRows : public testing::Test {
protected:
    void make(const row_case& how, std::uint64_t seed) {
        test::random_bits random(seed);
        in_.resize(how.rows * how.row_bytes);
        for (std::uint8_t& byte : in_) byte = static_cast<std::uint8_t>(random());
        flags_.assign(how.rows, 0);
        bits_.assign((how.rows + 63) / 64, ~std::uint64_t{0} << (how.rows % 64));
        if (how.rows % 64 == 0) std::fill(bits_.begin(), bits_.end(), 0);
        for (std::size_t w = 0; w + 1 < bits_.size(); ++w) bits_[w] = 0;
        kept_.clear();
        rest_.clear();
        numbers_.clear();
        for (std::size_t row = 0; row < how.rows; ++row) {
            const bool keep = random() % 100 < how.percent;
            flags_[row] = static_cast<std::uint8_t>(keep ? 1U << random() % 8 : 0U);
            bits_[row / 64] |= std::uint64_t{keep} << row % 64;
            auto& to = keep ? kept_ : rest_;
            to.insert(to.end(), &in_[row * how.row_bytes],
                      &in_[row * how.row_bytes] + how.row_bytes);
            if (keep) numbers_.push_back(row);
        }
    }

    row_flags flags(std::size_t kind) const {
        if (kind % 3 == 0) return row_flags::bytes(flags_);
        if (kind % 3 == 1) return row_flags::bits(bits_, flags_.size());
        return row_flags::computed(
            flags_.size(), [this](std::size_t first, std::size_t rows, std::uint64_t* words) {
                for (std::size_t i = 0; i < rows; ++i) {
                    if (i % 64 == 0) words[i / 64] = 0;
                    words[i / 64] |= std::uint64_t{flags_[first + i] != 0} << i % 64;
                }
            });
    }

    std::vector<std::uint8_t> in_, flags_, kept_, rest_;
    std::vector<std::uint64_t> bits_;
    std::vector<std::size_t> numbers_;
};

TEST_F(CompactRows, EverySizeOfRowBothSidesAndInPlace) {
    cpu::executor three(3);
    host_pool memory;
    test::for_each_simd_target([&](const char* target) {
        SCOPED_TRACE(target);
        std::size_t turn = 0;
        for (const std::size_t row_bytes : {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 24, 40, 100, 5000}) {
            for (const std::size_t rows : {0, 1, 63, 64, 65, 200, 1500}) {
                for (const unsigned percent : {0U, 2U, 50U, 97U, 100U}) {
                    ++turn;
                    if (test::sanitized && turn % 4 != 0) continue;
                    make({rows, row_bytes, percent}, turn);
                    const test::red_zone<std::uint8_t> in(in_, turn % 9);
                    const test::red_zone<std::uint8_t> out(kept_.size(), turn % 7);
                    const test::red_zone<std::uint8_t> rest(rest_.size(), turn % 5);
                    const bool in_place = turn % 4 == 1;
                    const auto as_bytes = [](std::uint8_t* at) {
                        return reinterpret_cast<std::byte*>(at);
                    };
                    std::uint8_t* const to = in_place ? in.data() : out.data();
                    const cpu::compact_column column{
                        as_bytes(in.data()), row_bytes, as_bytes(to),
                        turn % 2 == 0 ? as_bytes(rest.data()) : nullptr};
                    const row_flags chosen = flags(turn);
                    const std::size_t kept = cpu::compact(
                        three, memory, rows, cpu::marker_of(chosen), {&column, 1}, {}, tiny);
                    ASSERT_EQ(kept * row_bytes, kept_.size());
                    ASSERT_TRUE(same_bytes<std::uint8_t>({to, kept_.size()}, kept_))
                        << rows << " rows of " << row_bytes << ", " << percent << " %";
                    if (column.rest != nullptr) {
                        ASSERT_TRUE(same_bytes<std::uint8_t>(rest.span(), rest_));
                    }
                    ASSERT_TRUE(in.intact() && out.intact() && rest.intact());
                }
            }
        }
    });
}

TEST_F(CompactRows, ColumnsMoveTogetherAndIndicesTellWhere) {
    for (const int threads : {1, 3, 64}) {
        const context context({.backend = backend::cpu, .threads = threads});
        for (std::size_t kind = 0; kind < 3; ++kind) {
            const std::size_t rows = 200'000 + kind;
            make({rows, 12, 40}, kind + 1);
            const auto wide = test::generate<double>(test::distribution::specials, rows, kind);
            std::vector<std::uint8_t> narrow_out(kept_.size());
            std::vector<std::uint8_t> narrow_rest(rest_.size());
            std::vector<double> wide_out(numbers_.size());
            const moved_rows columns[] = {{in_.data(), 12, narrow_out.data(), narrow_rest.data()},
                                          {wide.data(), 8, wide_out.data(), nullptr}};
            ASSERT_EQ(
                compact(context, flags(kind), columns, {numbers_.size(), rows - numbers_.size()}),
                numbers_.size());
            EXPECT_EQ(narrow_out, kept_);
            EXPECT_EQ(narrow_rest, rest_);
            for (std::size_t i = 0; i < numbers_.size(); ++i) {
                ASSERT_EQ(std::memcmp(&wide_out[i], &wide[numbers_[i]], 8), 0);
            }
            std::vector<std::int64_t> index(numbers_.size());
            ASSERT_EQ(compact_indices<std::int64_t>(context, flags(kind), index), numbers_.size());
            EXPECT_TRUE(std::equal(index.begin(), index.end(), numbers_.begin()));
            std::vector<std::uint32_t> others(rows - numbers_.size());
            ASSERT_EQ(compact_indices<std::uint32_t>(context, !flags(kind), others), others.size());
            EXPECT_TRUE(std::none_of(others.begin(), others.end(),
                                     [&](std::uint32_t row) { return flags_[row] != 0; }));
            EXPECT_EQ(count_rows(context, flags(kind)), numbers_.size());
            EXPECT_EQ(count_rows(context, !flags(kind)), others.size());
        }
    }
}

TEST_F(CompactRows, TooLittleRoomIsToldAndNotOverrun) {
    const context context({.backend = backend::cpu, .threads = 4});
    make({300'000, 4, 50}, 5);
    for (const std::size_t missing : {std::size_t{1}, std::size_t{5000}, numbers_.size()}) {
        const test::red_zone<std::uint8_t> out(kept_.size() - missing * 4, 3);
        const moved_rows column{in_.data(), 4, out.data(), nullptr};
        try {
            compact(context, flags(1), {&column, 1}, {numbers_.size() - missing, 0});
            FAIL() << "accepted";
        } catch (const error& failure) {
            EXPECT_NE(std::string(failure.what()).find(std::to_string(numbers_.size())),
                      std::string::npos);
        }
        EXPECT_TRUE(out.intact());
        EXPECT_TRUE(std::equal(out.data(), out.data() + out.size(), kept_.begin()));
    }
}

TEST_F(CompactRows, InPlaceOnManyThreadsAndTiles) {
    cpu::executor threads(64);
    host_pool memory;
    for (const unsigned percent : {10U, 95U, 100U}) {
        make({test::sanitized ? 40'000U : 400'000U, 8, percent}, percent);
        const cpu::compact_column column{reinterpret_cast<std::byte*>(in_.data()), 8,
                                         reinterpret_cast<std::byte*>(in_.data()), nullptr};
        const row_flags chosen = flags(percent);
        ASSERT_EQ(cpu::compact(threads, memory, flags_.size(), cpu::marker_of(chosen), {&column, 1},
                               {}, tiny),
                  numbers_.size());
        in_.resize(kept_.size());
        ASSERT_EQ(in_, kept_);
    }
}

TEST_F(CompactRows, AMarkerThatThrowsEndsEveryThread) {
    constexpr std::size_t rows = 1 << 18;
    const std::vector<std::uint32_t> in(rows, 7);
    std::vector<std::uint32_t> out(rows);
    const context four({.backend = backend::cpu, .threads = 4});
    for (std::size_t refused = 0; refused < rows; refused += rows / 64) {
        const auto flags = row_flags::computed(
            rows, [&](std::size_t first, std::size_t count, std::uint64_t* words) {
                if (first <= refused && refused < first + count) throw std::domain_error("no");
                std::fill_n(words, (count + 63) / 64, 0);
            });
        const moved_rows column{in.data(), sizeof(in[0]), out.data(), nullptr};
        EXPECT_THROW(compact(four, flags, {&column, 1}), std::domain_error) << refused;
    }
}

// The tiles behind one that is given up have no place: written where none were kept before them,
// their rest would lie behind its end.
TEST_F(CompactRows, AMarkerThatThrowsWritesNothingBehindTheRest) {
    constexpr std::size_t rows = 1 << 18;
    constexpr std::size_t half = rows / 2;
    const std::vector<std::uint32_t> in(rows, 7);
    const context four({.backend = backend::cpu, .threads = 4});
    for (std::size_t refused = 0; refused < half; refused += rows / 64) {
        std::vector<std::uint32_t> out(rows);
        std::vector<std::uint32_t> rest(rows, 1);  // half of it, and a red zone
        const auto flags = row_flags::computed(
            rows, [&](std::size_t first, std::size_t count, std::uint64_t* words) {
                if (first <= refused && refused < first + count) throw std::domain_error("no");
                std::fill_n(words, (count + 63) / 64, first < half ? ~std::uint64_t{0} : 0);
            });
        const moved_rows column{in.data(), sizeof(in[0]), out.data(), rest.data()};
        EXPECT_THROW(compact(four, flags, {&column, 1}), std::domain_error) << refused;
        EXPECT_EQ(std::count(rest.begin() + half, rest.end(), 1U),
                  static_cast<std::ptrdiff_t>(half))
            << refused;
    }
}

// As many tiles as threads: nobody holds two while another has none. A thread that marks waits for
// the others to come.
TEST_F(CompactRows, FewTilesAreSharedByAllThreads) {
    constexpr std::size_t rows = 4 * 256;
    const std::vector<std::uint32_t> in(rows, 7);
    std::vector<std::uint32_t> out(rows);
    std::mutex mutex;
    std::condition_variable came;
    std::set<std::thread::id> marking;
    const cpu::block_marker mark = [&](std::size_t, std::size_t count, std::uint64_t* words) {
        std::fill_n(words, count / 64, ~std::uint64_t{0});
        std::unique_lock lock(mutex);
        marking.insert(std::this_thread::get_id());
        came.notify_all();
        came.wait_for(lock, std::chrono::seconds(20), [&] { return marking.size() == 4; });
    };
    cpu::executor threads(4);
    host_pool memory;
    const cpu::compact_column column{reinterpret_cast<const std::byte*>(in.data()), 4,
                                     reinterpret_cast<std::byte*>(out.data()), nullptr};
    EXPECT_EQ(cpu::compact(threads, memory, rows, mark, {&column, 1}, {}, tiny), rows);
    EXPECT_EQ(marking.size(), 4U);
    EXPECT_EQ(out, in);
}

TEST(CompactStaged, FlagsOffsetsAndScatterGiveTheSame) {
    const context context({.backend = backend::cpu, .threads = 2});
    const std::vector<int> in{7, 2, 9, 4, 5, 8, 1, 6};
    std::vector<std::uint8_t> flags(8);
    std::vector<std::int64_t> offsets(8);
    mark_flags<int>(context, in, comparison::greater_equal, 5, flags);
    EXPECT_EQ(flags, (std::vector<std::uint8_t>{1, 0, 1, 0, 1, 1, 0, 1}));
    EXPECT_EQ(compact_offsets(context, flags, offsets), 5U);
    EXPECT_EQ(offsets, (std::vector<std::int64_t>{0, 1, 1, 2, 2, 3, 4, 4}));
    std::vector<int> out(5);
    scatter_flagged(context, flags, offsets, in.data(), 4, out.data(), out.size());
    EXPECT_EQ(out, (std::vector<int>{7, 9, 5, 8, 6}));

    const auto items = test::generate<std::uint64_t>(test::distribution::uniform, 300'001, 4);
    const std::uint64_t value = std::uint64_t{1} << 62;
    std::vector<std::uint64_t> fused(items.size());
    fused.resize(compact_if<std::uint64_t>(context, items, comparison::less, value, fused));
    flags.resize(items.size());
    offsets.resize(items.size());
    mark_flags<std::uint64_t>(context, items, comparison::less, value, flags);
    std::vector<std::uint64_t> staged(compact_offsets(context, flags, offsets));
    scatter_flagged(context, flags, offsets, items.data(), 8, staged.data(), staged.size());
    EXPECT_EQ(fused, staged);
}

TEST(CompactUniqueByKey, SeveralKeysAndColumns) {
    const context context({.backend = backend::cpu, .threads = 2});
    const std::vector<double> a{1, 1, NAN, NAN, 0.0, -0.0, 1};
    const std::vector<std::uint8_t> b{5, 5, 5, 6, 6, 6, 6};
    const sort_key keys[] = {{a.data(), data_type::f64, 0, {}}, {b.data(), data_type::u8, 0, {}}};
    std::vector<std::uint16_t> values{0, 1, 2, 3, 4, 5, 6};
    const moved_rows column{values.data(), 2, values.data(), nullptr};
    ASSERT_EQ(unique_by_key(context, keys, 7, {&column, 1}), 5U);
    values.resize(5);
    EXPECT_EQ(values, (std::vector<std::uint16_t>{0, 2, 3, 4, 6}));
}

void expect_refused(const std::function<void(const context&)>& call, const std::string& named) {
    const context context({.backend = backend::cpu});
    try {
        call(context);
        ADD_FAILURE() << "accepted; should have named " << named;
    } catch (const error& failure) {
        EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
        EXPECT_NE(std::string(failure.what()).find(named), std::string::npos) << failure.what();
    }
}

TEST(CompactRefusals, EachNamesWhatIsWrong) {
    std::vector<int> items(100, 1);
    std::vector<std::uint8_t> flags(100, 1);
    const std::span<int> all(items);
    const auto move = [&](const moved_rows& column) {
        return [&, column](const context& context) {
            compact(context, row_flags::bytes(std::span(flags).first(10)), {&column, 1}, {10, 10});
        };
    };
    expect_refused(move({items.data(), 0, nullptr, nullptr}), "rows of 0 bytes");
    expect_refused(move({nullptr, 4, items.data(), nullptr}), "no rows");
    expect_refused(move({items.data(), 4, &items[1], nullptr}),
                   "column 0's in and column 0's kept");
    expect_refused(move({items.data(), 4, nullptr, items.data()}), "column 0's rest overlap");
    expect_refused(move({items.data(), 4, &items[20], &items[29]}), "overlap");
    expect_refused(move({items.data(), 4, flags.data(), nullptr}), "flags and");
    expect_refused([&](const context& c) { count_rows(c, row_flags::computed(3, {})); },
                   "no flags");
    expect_refused(
        [&](const context& c) {
            compact_if<int>(c, all.first(10), comparison::less, 5, all.subspan(5, 10));
        },
        "overlap");
    expect_refused(
        [&](const context& c) {
            compact_if<int>(c, all.first(10), comparison::less, 5, all.subspan(20, 9));
        },
        "10 rows pass, and there is room for 9");
    expect_refused(
        [&](const context& c) {
            compact_if<int>(c, all.first(10), static_cast<comparison>(9), 5, all.subspan(20, 10));
        },
        "no comparison 9");
    std::vector<std::int64_t> offsets(100, 7);
    expect_refused(
        [&](const context& c) { scatter_flagged(c, flags, offsets, items.data(), 4, nullptr, 7); },
        "offset 0 is 7, outside [0, 7)");
}

}  // namespace
}  // namespace lookback
