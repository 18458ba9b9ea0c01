// Conditions of range tests on the device against their definition (core::holds): every width, one
// to six tests of any columns under random tables, unaligned columns, sizes around those of lanes,
// groups, warps and tiles, and compactions by such marks, in place as well. Which expressions have
// range tests, and that they mean the same, is tested by apps_terms.
#include "support/device_array.cuh"
#include "support/scan_operators.cuh"

#include <lookback/kernels/device/compact.cuh>
#include <lookback/kernels/device/row_terms.cuh>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

namespace lookback::test {
namespace {

using core::index_t;
using core::row_terms;
using core::stored_type;

constexpr stored_type types[] = {stored_type::i8,  stored_type::u16,  stored_type::f16,
                                 stored_type::i32, stored_type::f32,  stored_type::i64,
                                 stored_type::f64, stored_type::truth};
constexpr std::size_t group_rows = 128;

/// Columns of all these types. What is allocated ends with the last group of rows that may be read.
class table {
public:
    /// `shift`: items between an aligned address and each column.
    table(std::size_t rows, std::size_t shift) : rows_(rows) {
        const std::size_t room = (rows + group_rows - 1) / group_rows * group_rows;
        std::vector<core::row_column> columns;
        for (const stored_type type : types) {
            const auto bytes = static_cast<std::size_t>(core::bytes_of(type));
            std::vector<std::byte> memory((shift + room) * bytes);
            bits_.emplace_back(room);
            for (std::size_t i = 0; i < room; ++i) {
                bits_.back()[i] = value(type, i);
                std::memcpy(memory.data() + (shift + i) * bytes, &bits_.back()[i], bytes);
            }
            memory_.push_back(std::make_unique<device_array<std::byte>>(memory));
            columns.push_back({memory_.back()->data() + shift * bytes, type});
        }
        columns_ = std::make_unique<device_array<core::row_column>>(columns);
    }

    std::size_t rows() const { return rows_; }
    const core::row_column* columns() const { return columns_->data(); }
    void* memory(std::size_t column) const { return memory_[column]->data(); }  ///< without shift
    std::uint64_t bits(std::size_t column, std::size_t row) const { return bits_[column][row]; }
    bool holds(const row_terms& terms, std::size_t row) const {
        return core::holds(terms, types, [&](std::uint32_t c) { return bits(c, row); });
    }

    /// One of some few values, so that tests meet them, or any.
    static std::uint64_t value(stored_type type, std::size_t i) {
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * core::bytes_of(type));
        const std::uint64_t noise = scramble(3 * i + static_cast<std::uint64_t>(type));
        return (noise % 3 == 0 ? scramble(noise % 8) : noise) & all;
    }

private:
    std::size_t rows_;
    std::vector<std::vector<std::uint64_t>> bits_;
    std::vector<std::unique_ptr<device_array<std::byte>>> memory_;
    std::unique_ptr<device_array<core::row_column>> columns_;
};

/// So many tests of random columns, whose ends are values that occur.
row_terms random_terms(std::mt19937_64& random, std::uint32_t count) {
    std::vector<std::uint32_t> columns(count);
    for (std::uint32_t& column : columns) column = random() % std::size(types);
    std::sort(columns.begin(), columns.end());
    row_terms made{};
    made.count = count;
    for (std::uint32_t t = 0; t < count; ++t) {
        const stored_type type = types[columns[t]];
        const auto key = [&](std::uint64_t bits) {
            if (core::bytes_of(type) == 8) return core::term_key(bits, core::is_real_type(type));
            const auto word =
                static_cast<std::uint32_t>(bits << core::term_shift(core::bytes_of(type)));
            return std::uint64_t{core::term_key(word, core::is_real_type(type))};
        };
        const std::uint64_t low = key(table::value(type, random() % 20));
        const std::uint64_t span = key(table::value(type, random() % 20)) - low;
        made.ranges[t] = {low, core::bytes_of(type) == 8 ? span : span & 0xffffffffU};
        if (t == 0 || columns[t] != columns[t - 1]) {
            made.groups[made.group_count++] = {columns[t], t, 0, 0};
        }
        ++made.groups[made.group_count - 1].count;
    }
    for (std::uint32_t i = 0; i < std::size(made.table); ++i) {
        const std::uint32_t used = i & ((1U << count) - 1);  // the other bits are always 0
        made.table[i] = i == used && random() % 2 != 0 ? ~0U : 0U;
    }
    return made;
}

class RowTerms : public CudaTest {
protected:
    void check(const table& data, const row_terms& terms) const {
        const device_array<row_terms> plan(std::vector<row_terms>{terms});
        const auto items = static_cast<index_t>(data.rows());
        device_array<std::uint32_t> words(data.rows() / 32 + 1);
        words.fill_bytes(0);
        device_array<index_t> count(1);
        device_array<unsigned char> workspace(device::compact_workspace_bytes(items));
        workspace.fill_bytes(0);
        using request = device::compact_request<device::marks_alone>;
        const request all{.rows = {words.data(), nullptr}, .items = items, .count = count.data()};
        const device::term_marks source{plan.data(), data.columns()};
        require(device::compact_under<tuning::program_policy>(
                    {workspace.data(), workspace.size(), nullptr}, all, source, nullptr),
                "marks");
        const std::vector<std::uint32_t> got = words.host();
        index_t expected_count = 0;
        for (std::size_t i = 0; i < data.rows(); ++i) {
            const bool expected = data.holds(terms, i);
            const bool mark = (got[i / 32] >> i % 32 & 1) != 0;
            ASSERT_EQ(mark, expected) << "row " << i << " of " << data.rows();
            expected_count += expected ? 1 : 0;
        }
        EXPECT_EQ(count.host().front(), expected_count);
    }
};

TEST_F(RowTerms, AnyTestsUnderAnyTable) {
    std::mt19937_64 random(1);
    for (const std::size_t shift : {0U, 1U}) {
        const table data(3000, shift);
        for (int i = 0; i < by_device(300, 60, 20); ++i) {
            check(data, random_terms(random, static_cast<std::uint32_t>(i % 7)));
        }
    }
}

TEST_F(RowTerms, EveryColumnByItself) {
    std::mt19937_64 random(2);
    for (const std::size_t shift : {0U, 1U, 2U, 3U}) {
        const table data(1500, shift);
        for (std::uint32_t c = 0; c < std::size(types); ++c) {
            row_terms terms = random_terms(random, 1);
            terms.groups[0].column = c;
            const std::uint64_t bits = table::value(types[c], 5);
            const int bytes = core::bytes_of(types[c]);
            const bool real = core::is_real_type(types[c]);
            const auto word = static_cast<std::uint32_t>(bits << core::term_shift(bytes));
            terms.ranges[0] = {bytes == 8 ? core::term_key(bits, real) : core::term_key(word, real),
                               std::uint64_t{1} << (bytes == 8 ? 62 : 30)};
            terms.table[0] = 0;
            terms.table[1] = ~0U;
            check(data, terms);
        }
    }
}

TEST_F(RowTerms, SizesAroundLanesGroupsWarpsAndTiles) {
    std::mt19937_64 random(3);
    for (const std::size_t rows :
         {0,   1,   3,    4,    31,   32,   33,   127,   128,   129,   511,
          512, 513, 1023, 1024, 1025, 2048, 2049, 16383, 16384, 16385, 50000}) {
        const table data(rows, rows % 2);
        check(data, random_terms(random, 4));
        check(data, random_terms(random, 1 + rows % 6));
    }
}

TEST_F(RowTerms, CompactionsByTheirMarks) {
    std::mt19937_64 random(4);
    for (const std::size_t rows : {1, 1279, 1280, 5000, 40000}) {
        const table data(rows, 0);
        row_terms terms = random_terms(random, 5);
        terms.groups[terms.group_count - 1].column = 3;  // the one that moves is asked as well
        const device_array<row_terms> plan(std::vector<row_terms>{terms});
        const device::term_marks source{plan.data(), data.columns()};
        std::vector<std::uint32_t> expected;
        for (std::size_t i = 0; i < rows; ++i) {
            if (data.holds(terms, i))
                expected.push_back(static_cast<std::uint32_t>(data.bits(3, i)));
        }
        const auto items = static_cast<index_t>(rows);
        device_array<unsigned char> workspace(device::compact_workspace_bytes(items));
        device_array<index_t> count(1);
        device_array<std::uint32_t> apart(rows);
        auto* const own = static_cast<std::uint32_t*>(data.memory(3));
        for (std::uint32_t* const kept : {apart.data(), own}) {
            workspace.fill_bytes(0);
            using request = device::compact_request<device::moved_items<std::uint32_t>>;
            request wanted{.rows = {own, kept, nullptr}, .items = items, .count = count.data()};
            wanted.in_place = kept == own;
            require(device::compact_under<tuning::large_by_flags<4>>(
                        {workspace.data(), workspace.size(), nullptr}, wanted, source, nullptr),
                    "compact");
            ASSERT_EQ(count.host().front(), static_cast<index_t>(expected.size()))
                << rows << (wanted.in_place ? ", in place" : "");
            std::vector<std::uint32_t> got(expected.size());
            require(cudaMemcpy(got.data(), kept, got.size() * sizeof(got[0]), cudaMemcpyDefault),
                    "download");
            EXPECT_EQ(got, expected) << rows;
        }
    }
}

}  // namespace
}  // namespace lookback::test
