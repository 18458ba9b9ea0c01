// Compaction on a CUDA context through the public API against std::copy_if, std::unique_copy and
// std::stable_partition: every type and comparison, flags, rows of any size, columns, in place, too
// little room, the staged form, refusals.
#include "support/backend_context.hpp"
#include "support/compact_reference.hpp"
#include "support/generators.hpp"

#include <lookback/compact.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace lookback {
namespace {

using test::distribution;
using test::download;
using test::upload;

using test::all_comparisons;
using test::holds;

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

class CudaCompact : public testing::Test {
protected:
    void SetUp() override { test::open_context(backend::cuda, gpu_); }

    template <class T>
    buffer<T> to_gpu(const std::vector<T>& items) const {
        return upload<T>(*gpu_, items);
    }
    template <class T>
    std::vector<T> to_host(const buffer<T>& items) const {
        return download<T>(*gpu_, items.span());
    }
    /// The first `count` items of a buffer.
    template <class T>
    std::vector<T> first(const buffer<T>& items, std::size_t count) const {
        return download<T>(*gpu_, items.span().first(count));
    }

    std::optional<context> gpu_;
};

/// One size of each way a kernel is cut, and sizes around them.
constexpr std::size_t some_sizes[] = {0, 1, 31, 33, 1000, 16385, 600001, 3000001};

template <class T>
struct by_type {
    static void comparisons(const context& gpu) {
        for (const auto shape : {distribution::specials, distribution::sawtooth}) {
            for (const std::size_t size : {std::size_t{1}, std::size_t{777}, std::size_t{70001}}) {
                const auto items = test::generate<T>(shape, size, size);
                const auto there = upload<T>(gpu, items);
                for (const T value : {items[0], items[size / 2], T(7), T(0)}) {
                    for (const comparison op : all_comparisons)
                        expect(gpu, items, there, op, value);
                }
            }
        }
    }
    static void expect(const context& gpu, const std::vector<T>& items, const buffer<T>& there,
                       comparison op, T value) {
        std::vector<T> expected;
        std::vector<std::uint8_t> flags;
        for (const T item : items) {
            flags.push_back(holds(item, op, value) ? 1 : 0);
            if (flags.back() != 0) expected.push_back(item);
        }
        const buffer<T> out(gpu, items.size());
        const std::size_t kept = compact_if<T>(gpu, there.span(), op, value, out.span());
        ASSERT_EQ(kept, expected.size()) << name_of(type_of<T>()) << " " << static_cast<int>(op);
        ASSERT_TRUE(same_bytes(download<T>(gpu, out.span().first(kept)), expected));
        const buffer<std::uint8_t> marked(gpu, items.size());
        mark_flags<T>(gpu, there.span(), op, value, marked.span());
        ASSERT_TRUE(same_bytes(download<std::uint8_t>(gpu, marked.span()), flags));
    }
    static void unique_items(const context& gpu) {
        for (const std::size_t size : some_sizes) {
            auto items = test::generate<T>(distribution::specials, size, 3);
            for (std::size_t i = 1; i < size; ++i) {
                if (i % 3 != 0) items[i] = items[i - 1];
            }
            std::vector<T> expected;
            std::unique_copy(items.begin(), items.end(), std::back_inserter(expected),
                             [](T a, T b) { return a == b || (a != a && b != b); });
            for (const bool in_place : {false, true}) {
                const auto there = upload<T>(gpu, items);
                const buffer<T> other(gpu, size);
                const std::span<T> out = in_place ? there.span() : other.span();
                const std::size_t kept = unique<T>(gpu, there.span(), out);
                ASSERT_EQ(kept, expected.size()) << name_of(type_of<T>()) << " " << size;
                ASSERT_TRUE(same_bytes(download<T>(gpu, out.first(kept)), expected));
            }
        }
    }
};

template <template <class> class ForType, class Body>
void for_each_type(Body body) {
    body(ForType<std::int8_t>{});
    body(ForType<std::int16_t>{});
    body(ForType<std::int32_t>{});
    body(ForType<std::int64_t>{});
    body(ForType<std::uint8_t>{});
    body(ForType<std::uint16_t>{});
    body(ForType<std::uint32_t>{});
    body(ForType<std::uint64_t>{});
    body(ForType<float>{});
    body(ForType<double>{});
}

TEST_F(CudaCompact, EveryTypeAndComparison) {
    for_each_type<by_type>([&](auto type) { type.comparisons(*gpu_); });
}

TEST_F(CudaCompact, UniqueOfEveryType) {
    for_each_type<by_type>([&](auto type) { type.unique_items(*gpu_); });
}

TEST_F(CudaCompact, NaNPassesNotEqualAlone) {
    const std::vector<double> items = {1.0, std::nan(""), -0.0, 0.0, INFINITY, -INFINITY};
    const auto there = to_gpu(items);
    const buffer<double> out(*gpu_, items.size());
    for (const comparison op : all_comparisons) {
        const std::size_t kept =
            compact_if<double>(*gpu_, there.span(), op, std::nan(""), out.span());
        EXPECT_EQ(kept, op == comparison::not_equal ? 6U : 0U);
    }
    EXPECT_EQ(compact_if<double>(*gpu_, there.span(), comparison::equal, 0.0, out.span()), 2U);
    EXPECT_EQ(compact_if<double>(*gpu_, there.span(), comparison::greater, INFINITY, out.span()),
              0U);
    EXPECT_EQ(
        compact_if<double>(*gpu_, there.span(), comparison::greater_equal, -INFINITY, out.span()),
        5U);
    EXPECT_EQ(compact_if<double>(*gpu_, there.span(), comparison::less, -INFINITY, out.span()), 0U);
}

/// Flags of which some percent are set, as bytes and as bits.
struct flag_pair {
    flag_pair(std::size_t rows, int percent) : bytes(rows), words((rows + 63) / 64) {
        test::random_bits random(rows + static_cast<std::size_t>(percent));
        for (std::size_t i = 0; i < rows; ++i) {
            const std::uint64_t bits = random();
            if (static_cast<int>(bits % 100) >= percent) continue;
            bytes[i] = static_cast<std::uint8_t>(bits >> 20 | 1);
            words[i / 64] |= std::uint64_t{1} << i % 64;
        }
    }
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> words;
};

/// Rows of random bytes, and what must come of them.
struct byte_rows {
    byte_rows(std::size_t rows, std::size_t row_bytes, const std::vector<std::uint8_t>& flags,
              bool inverted)
        : items(rows * row_bytes) {
        test::random_bits random(row_bytes);
        for (auto& byte : items) byte = static_cast<std::uint8_t>(random());
        for (std::size_t i = 0; i < rows; ++i) {
            auto& side = (flags[i] != 0) != inverted ? kept : rest;
            const auto row = items.begin() + static_cast<std::ptrdiff_t>(i * row_bytes);
            side.insert(side.end(), row, row + static_cast<std::ptrdiff_t>(row_bytes));
        }
    }
    std::vector<std::uint8_t> items;
    std::vector<std::uint8_t> kept;
    std::vector<std::uint8_t> rest;
};

TEST_F(CudaCompact, RowsOfEverySize) {
    for (const std::size_t rows : {std::size_t{1}, std::size_t{999}, std::size_t{50001}}) {
        for (const int percent : {0, 10, 50, 100}) {
            const flag_pair flags(rows, percent);
            const auto bytes = to_gpu(flags.bytes);
            const auto words = to_gpu(flags.words);
            for (const std::size_t row_bytes : {1, 2, 3, 4, 7, 8, 12, 16, 24, 100}) {
                const bool inverted = (row_bytes + rows) % 2 == 0;
                const byte_rows expected(rows, row_bytes, flags.bytes, inverted);
                for (const bool in_place : {false, true}) {
                    SCOPED_TRACE(testing::Message()
                                 << rows << " rows of " << row_bytes << " bytes, " << percent
                                 << " %" << (in_place ? " in place" : ""));
                    row_flags which = in_place ? row_flags::bits(words.span(), rows)
                                               : row_flags::bytes(bytes.span());
                    if (inverted) which = !which;
                    const auto in = to_gpu(expected.items);
                    const buffer<std::uint8_t> out(*gpu_, expected.items.size());
                    const buffer<std::uint8_t> rest(*gpu_, expected.items.size());
                    auto* const kept = in_place ? in.data() : out.data();
                    const moved_rows column{in.data(), row_bytes, kept, rest.data()};
                    const std::size_t count = compact(*gpu_, which, {&column, 1});
                    ASSERT_EQ(count * row_bytes, expected.kept.size());
                    ASSERT_EQ(count_rows(*gpu_, which), count);
                    ASSERT_TRUE(same_bytes(first(in_place ? in : out, expected.kept.size()),
                                           expected.kept));
                    ASSERT_TRUE(same_bytes(first(rest, expected.rest.size()), expected.rest));
                }
            }
        }
    }
}

TEST_F(CudaCompact, ColumnsMoveTogether) {
    constexpr std::size_t rows = 123457;
    const flag_pair flags(rows, 37);
    const auto bytes = to_gpu(flags.bytes);
    std::vector<byte_rows> expected;
    std::vector<buffer<std::uint8_t>> memory;
    std::vector<moved_rows> columns;
    for (const std::size_t row_bytes : {4, 8, 12, 1, 16, 4, 6}) {
        expected.emplace_back(rows, row_bytes, flags.bytes, false);
        memory.push_back(to_gpu(expected.back().items));
        auto* const in = memory.back().data();
        memory.emplace_back(*gpu_, rows * row_bytes);
        memory.emplace_back(*gpu_, rows * row_bytes);
        // The last two in place.
        const bool in_place = expected.size() > 5;
        columns.push_back({in, row_bytes, in_place ? in : memory[memory.size() - 2].data(),
                           expected.size() % 2 == 0 ? memory.back().data() : nullptr});
    }
    const std::size_t kept = compact(*gpu_, row_flags::bytes(bytes.span()), columns);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        SCOPED_TRACE(c);
        ASSERT_EQ(kept * columns[c].row_bytes, expected[c].kept.size());
        std::vector<std::uint8_t> found(expected[c].kept.size());
        gpu_->copy(found.data(), columns[c].kept, found.size());
        EXPECT_TRUE(same_bytes(found, expected[c].kept));
        if (columns[c].rest == nullptr) continue;
        found.resize(expected[c].rest.size());
        gpu_->copy(found.data(), columns[c].rest, found.size());
        EXPECT_TRUE(same_bytes(found, expected[c].rest));
    }
}

template <class Index>
void expect_numbers(const context& gpu, std::size_t rows, int percent) {
    const flag_pair flags(rows, percent);
    std::vector<Index> expected;
    for (std::size_t i = 0; i < rows; ++i) {
        if (flags.bytes[i] != 0) expected.push_back(static_cast<Index>(i));
    }
    const auto words = upload<std::uint64_t>(gpu, flags.words);
    const buffer<Index> out(gpu, rows);
    const std::size_t kept =
        compact_indices<Index>(gpu, row_flags::bits(words.span(), rows), out.span());
    ASSERT_EQ(kept, expected.size());
    EXPECT_TRUE(same_bytes(download<Index>(gpu, out.span().first(kept)), expected));
}

TEST_F(CudaCompact, Numbers) {
    for (const std::size_t rows : some_sizes) {
        expect_numbers<std::uint32_t>(*gpu_, rows, 50);
        expect_numbers<std::int64_t>(*gpu_, rows, 3);
    }
}

TEST_F(CudaCompact, StablePartition) {
    constexpr std::size_t rows = 2000003;
    auto items = test::generate<std::int32_t>(distribution::uniform, rows);
    const auto in = to_gpu(items);
    const buffer<std::uint8_t> flags(*gpu_, rows);
    mark_flags<std::int32_t>(*gpu_, in.span(), comparison::less, 1000, flags.span());
    const buffer<std::int32_t> out(*gpu_, rows);
    const buffer<std::int32_t> rest(*gpu_, rows);
    const moved_rows column{in.data(), 4, out.data(), rest.data()};
    const std::size_t kept = compact(*gpu_, row_flags::bytes(flags.span()), {&column, 1});
    const auto middle =
        std::stable_partition(items.begin(), items.end(), [](auto item) { return item < 1000; });
    ASSERT_EQ(static_cast<std::ptrdiff_t>(kept), middle - items.begin());
    auto found = first(out, kept);
    const auto others = first(rest, rows - kept);
    found.insert(found.end(), others.begin(), others.end());
    EXPECT_TRUE(same_bytes(found, items));
}

TEST_F(CudaCompact, UniqueByKey) {
    constexpr std::size_t rows = 100003;
    auto first_key = test::generate<std::uint8_t>(distribution::sawtooth, rows);
    auto second_key = test::generate<double>(distribution::specials, rows);
    std::vector<char> third_key(rows * 3);
    for (std::size_t i = 0; i < rows; ++i) {
        first_key[i] = static_cast<std::uint8_t>(i / 40);
        if (i % 5 != 0) second_key[i] = second_key[i - 1];
        std::memcpy(&third_key[3 * i], i / 7 % 2 == 0 ? "abc" : "abd", 3);
    }
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < rows; ++i) {
        const auto same = [&](double a, double b) { return a == b || (a != a && b != b); };
        if (i == 0 || first_key[i] != first_key[i - 1] || !same(second_key[i], second_key[i - 1]) ||
            std::memcmp(&third_key[3 * i], &third_key[3 * i - 3], 3) != 0) {
            expected.push_back(i);
        }
    }
    std::vector<std::uint32_t> numbers(rows);
    for (std::uint32_t i = 0; i < rows; ++i) numbers[i] = i;
    const auto a = to_gpu(first_key);
    const auto b = to_gpu(second_key);
    const auto c = to_gpu(third_key);
    const auto in = to_gpu(numbers);
    const buffer<std::uint32_t> out(*gpu_, rows);
    const sort_key keys[] = {{a.data(), data_type::u8, 0, {}},
                             {b.data(), data_type::f64, 0, {true, true}},
                             {c.data(), data_type::u8, 3, {}}};
    const moved_rows column{in.data(), 4, out.data(), nullptr};
    const std::size_t kept = unique_by_key(*gpu_, keys, rows, {&column, 1});
    ASSERT_EQ(kept, expected.size());
    EXPECT_TRUE(same_bytes(first(out, kept), expected));
}

TEST_F(CudaCompact, TheStagedForm) {
    constexpr std::size_t rows = 300007;
    const auto items = test::generate<float>(distribution::uniform, rows);
    const auto in = to_gpu(items);
    const buffer<std::uint8_t> flags(*gpu_, rows);
    mark_flags<float>(*gpu_, in.span(), comparison::greater_equal, 0.25F, flags.span());
    const buffer<std::int64_t> offsets(*gpu_, rows);
    const std::size_t kept = compact_offsets(*gpu_, flags.span(), offsets.span());
    const buffer<float> out(*gpu_, kept);
    scatter_flagged(*gpu_, flags.span(), offsets.span(), in.data(), 4, out.data(), kept);
    std::vector<float> expected;
    std::copy_if(items.begin(), items.end(), std::back_inserter(expected),
                 [](float item) { return item >= 0.25F; });
    EXPECT_TRUE(same_bytes(to_host(out), expected));
    try {
        scatter_flagged(*gpu_, flags.span(), offsets.span(), in.data(), 4, out.data(), kept - 1);
        FAIL() << "an offset outside was taken";
    } catch (const error& refusal) {
        EXPECT_EQ(refusal.kind(), error_kind::invalid_argument);
        EXPECT_NE(std::string(refusal.what()).find("outside [0, "), std::string::npos);
    }
}

TEST_F(CudaCompact, TooLittleRoomGivesTheFirstRows) {
    constexpr std::size_t rows = 40000;
    const auto items = test::generate<std::uint32_t>(distribution::uniform, rows);
    std::vector<std::uint32_t> expected;
    std::copy_if(items.begin(), items.end(), std::back_inserter(expected),
                 [](auto item) { return item > 1U << 31; });
    const auto in = to_gpu(items);
    const std::size_t room = expected.size() / 2;
    std::vector<std::uint32_t> before(room + 100, 0xDEADBEEF);
    const auto out = to_gpu(before);
    try {
        compact_if<std::uint32_t>(*gpu_, in.span(), comparison::greater, 1U << 31,
                                  out.span().first(room));
        FAIL() << "too little room was enough";
    } catch (const error& refusal) {
        EXPECT_NE(std::string(refusal.what()).find(std::to_string(expected.size()) + " rows pass"),
                  std::string::npos)
            << refusal.what();
    }
    std::copy_n(expected.begin(), room, before.begin());
    EXPECT_TRUE(same_bytes(to_host(out), before));
}

TEST_F(CudaCompact, Refusals) {
    std::vector<std::uint8_t> host(100, 1);
    const auto there = to_gpu(host);
    const auto expect_refusal = [](auto call, const char* part) {
        try {
            call();
            ADD_FAILURE() << "accepted: " << part;
        } catch (const error& refusal) {
            EXPECT_EQ(refusal.kind(), error_kind::invalid_argument);
            EXPECT_NE(std::string(refusal.what()).find(part), std::string::npos) << refusal.what();
        }
    };
    expect_refusal([&] { count_rows(*gpu_, row_flags::bytes(host)); }, "flags");
    expect_refusal(
        [&] {
            count_rows(*gpu_,
                       row_flags::computed(10, [](std::size_t, std::size_t, std::uint64_t*) {}));
        },
        "computed flags are for a CPU context");
    moved_rows column{host.data(), 1, there.data(), nullptr};
    expect_refusal(
        [&] {
            compact(*gpu_, row_flags::bytes(there.span()), {&column, 1});
        },
        "overlap");
    const buffer<std::uint8_t> out(*gpu_, 100);
    column.kept = out.data();
    expect_refusal([&] { compact(*gpu_, row_flags::bytes(there.span()), {&column, 1}); }, "in");
}

TEST_F(CudaCompact, NothingToDo) {
    const buffer<std::uint32_t> none(*gpu_, 0);
    EXPECT_EQ(unique<std::uint32_t>(*gpu_, none.span(), none.span()), 0U);
    EXPECT_EQ(compact_if<std::uint32_t>(*gpu_, none.span(), comparison::less, 3, none.span()), 0U);
    EXPECT_EQ(count_rows(*gpu_, row_flags::bytes({})), 0U);
    EXPECT_EQ(compact(*gpu_, row_flags::bytes({}), {}), 0U);
}

}  // namespace
}  // namespace lookback
