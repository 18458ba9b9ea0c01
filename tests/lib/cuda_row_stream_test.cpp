// mark_rows() on a CUDA context against loops of the host: rows around those of words, tiles and
// batches, every stored type, faults, functions that throw, conditions that name what is not there.
// Built twice: for a GPU, and for the emulated device, whose streams do nothing until waited for.
#include "support/backend_context.hpp"
#include "support/row_steps.hpp"

#include <lookback/row_stream.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace lookback {
namespace {

using core::opcode;
using core::row_operand;
using core::row_step;
using core::stored_type;
using core::value_type;
using kind = row_operand::kind;
using test::at;
using test::constant;
using test::step;

#if defined(LOOKBACK_ON_EMULATED_DEVICE)
constexpr std::size_t tile_rows = 16384;
constexpr std::size_t most_rows = 2 * tile_rows;
#else
constexpr std::size_t tile_rows = 16384;
constexpr std::size_t most_rows = 200 * tile_rows;
#endif

/// A condition, its columns, and what it says of each row.
struct table {
    std::vector<row_step> steps;
    std::vector<core::row_constant> constants;
    std::vector<stored_type> types;
    std::vector<std::vector<std::byte>> values;  ///< of each column
    row_operand result;
    int value_slots = 0;
    std::size_t rows = 0;
    std::function<bool(std::size_t)> passes;

    template <class T>
    void add(stored_type type, const std::vector<T>& items) {
        types.push_back(type);
        std::vector<std::byte> bytes(items.size() * sizeof(T));
        if (!bytes.empty()) std::memcpy(bytes.data(), items.data(), bytes.size());
        values.push_back(std::move(bytes));
    }
    row_condition condition() const { return {steps, constants, types, result, value_slots}; }
};

/// `column op value` of one column.
template <class T>
table comparison_of(stored_type stored, value_type type, opcode op, std::vector<T> items,
                    core::row_constant value, std::function<bool(T)> passes) {
    table made;
    made.rows = items.size();
    made.constants = {value};
    made.steps = {step(op, type, at(kind::column), at(kind::constant), 0)};
    made.result = at(kind::marks);
    made.add(stored, items);
    made.passes = [=](std::size_t row) { return passes(items[row]); };
    return made;
}

template <class T>
std::vector<T> numbers(std::size_t rows) {
    std::vector<T> items(rows);
    std::uint64_t state = 1;
    for (T& item : items) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        if constexpr (std::is_floating_point_v<T>) {
            item = state >> 60 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                    : static_cast<T>(static_cast<std::int64_t>(state) >> 50);
        } else {
            item = static_cast<T>(state >> 40);
        }
    }
    return items;
}

class CudaRowStream : public testing::Test {
protected:
    void SetUp() override { test::open_context(backend::cuda, gpu_); }

    /// How rows are given: at most so many at a time by the caller, of what is asked for.
    static row_stream stream_of(const table& from, std::size_t batch, std::size_t given,
                                std::vector<bool>& marks,
                                row_strategy strategy = row_strategy::steps) {
        row_stream stream;
        stream.strategy = strategy;
        stream.condition = from.condition();
        stream.rows = from.rows;
        stream.batch_rows = batch;
        stream.read = [&from, given](std::size_t first, std::size_t most,
                                     std::span<std::byte* const> columns) {
            const std::size_t rows = std::min(most, given);
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const auto item = static_cast<std::size_t>(core::bytes_of(from.types[c]));
                std::memcpy(columns[c], from.values[c].data() + first * item, rows * item);
            }
            return rows;
        };
        stream.take = [&marks, strategy](const row_batch& done) {
            EXPECT_FALSE(done.fault);
            EXPECT_EQ(done.strategy, strategy);
            EXPECT_EQ(done.first, marks.size());
            ASSERT_EQ(done.words.size(), (done.rows + 63) / 64);
            for (std::size_t i = 0; i < 64 * done.words.size(); ++i) {
                const bool mark = (done.words[i / 64] >> i % 64 & 1) != 0;
                if (i < done.rows) {
                    marks.push_back(mark);
                } else {
                    EXPECT_FALSE(mark) << "behind the last row";
                }
            }
        };
        return stream;
    }

    /// By its steps and, where it comes to them, by range tests.
    void expect_marks(const table& from, std::size_t batch, std::size_t given = ~std::size_t{0},
                      bool ahead = true) const {
        expect_marks(from, batch, given, ahead, row_strategy::steps);
        if (strategy_of(from.condition()) != row_strategy::terms) return;
        expect_marks(from, batch, given, ahead, row_strategy::terms);
    }
    void expect_marks(const table& from, std::size_t batch, std::size_t given, bool ahead,
                      row_strategy strategy) const {
        std::vector<bool> marks;
        row_stream stream = stream_of(from, batch, given, marks, strategy);
        stream.ahead = ahead;
        mark_rows(*gpu_, stream);
        ASSERT_EQ(marks.size(), from.rows);
        for (std::size_t row = 0; row < from.rows; ++row) {
            ASSERT_EQ(marks[row], from.passes(row))
                << "row " << row << " of " << from.rows << " in batches of " << batch;
        }
    }
    std::string refusal(const row_stream& stream) const {
        try {
            mark_rows(*gpu_, stream);
        } catch (const error& failure) {
            EXPECT_EQ(failure.kind(), error_kind::invalid_argument);
            return failure.what();
        }
        return {};
    }

    std::optional<context> gpu_;
};

table small_floats(std::size_t rows, float limit = 100) {
    return comparison_of<float>(stored_type::f32, value_type::f32, opcode::less,
                                numbers<float>(rows), constant(limit),
                                [=](float x) { return x < limit; });
}

TEST_F(CudaRowStream, RowsAroundWordsAndBatches) {
    for (const std::size_t rows : {0, 1, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 3000}) {
        for (const std::size_t batch : {std::size_t{1} << 20, std::size_t{1000}}) {
            expect_marks(small_floats(rows), batch);
        }
    }
    for (const std::size_t batch : {1, 31, 32, 33, 64, 65}) {
        expect_marks(small_floats(131), batch);
        expect_marks(small_floats(131), batch, ~std::size_t{0}, false);
    }
    expect_marks(small_floats(1000), 300, 7);  // fewer than were asked for
    expect_marks(small_floats(1000), 300, 64, false);
}

TEST_F(CudaRowStream, RowsAroundTiles) {
    for (const std::size_t rows : {tile_rows - 1, tile_rows, tile_rows + 1, most_rows + 1}) {
        expect_marks(small_floats(rows), most_rows);
    }
    expect_marks(small_floats(most_rows + 33), tile_rows);
}

TEST_F(CudaRowStream, BatchesWithNoneOrAllOfTheRows) {
    const float infinity = std::numeric_limits<float>::infinity();
    expect_marks(small_floats(5000, -infinity), 1024);
    table all = small_floats(5000);
    all.steps[0].op = opcode::not_equal;
    all.constants[0] = constant(infinity);
    all.passes = [](std::size_t) { return true; };
    expect_marks(all, 1024);
    expect_marks(all, 1000);
}

template <class T>
table integers(stored_type stored, value_type type, std::size_t rows) {
    const std::vector<T> items = numbers<T>(rows);
    const T limit = items[rows / 2];
    const core::row_constant value = type == value_type::u64
                                         ? constant(static_cast<std::uint64_t>(limit))
                                         : constant(static_cast<std::int64_t>(limit));
    return comparison_of<T>(stored, type, opcode::greater_equal, items, value,
                            [=](T x) { return x >= limit; });
}

TEST_F(CudaRowStream, EveryStoredType) {
    constexpr std::size_t rows = 2100;
    constexpr std::size_t batch = 999;
    expect_marks(integers<std::int8_t>(stored_type::i8, value_type::i64, rows), batch);
    expect_marks(integers<std::int16_t>(stored_type::i16, value_type::i64, rows), batch);
    expect_marks(integers<std::int32_t>(stored_type::i32, value_type::i64, rows), batch);
    expect_marks(integers<std::int64_t>(stored_type::i64, value_type::i64, rows), batch);
    expect_marks(integers<std::uint8_t>(stored_type::u8, value_type::i64, rows), batch);
    expect_marks(integers<std::uint16_t>(stored_type::u16, value_type::i64, rows), batch);
    expect_marks(integers<std::uint32_t>(stored_type::u32, value_type::i64, rows), batch);
    expect_marks(integers<std::uint64_t>(stored_type::u64, value_type::u64, rows), batch);
    expect_marks(
        comparison_of<double>(stored_type::f64, value_type::f64, opcode::greater,
                              numbers<double>(rows), constant(5.0), [](double x) { return x > 5; }),
        batch);
    // Halves: their bits as numbers of the same order, as long as they are finite and positive.
    std::vector<std::uint16_t> halves = numbers<std::uint16_t>(rows);
    for (std::uint16_t& half : halves) half &= 0x7bff;
    expect_marks(comparison_of<std::uint16_t>(stored_type::f16, value_type::f32, opcode::less,
                                              halves, constant(1.5F),
                                              [](std::uint16_t bits) { return bits < 0x3e00; }),
                 batch);
}

TEST_F(CudaRowStream, TruthsAndRowNumbersNeedNoSteps) {
    table truths;
    truths.rows = 777;
    std::vector<std::uint8_t> items = numbers<std::uint8_t>(truths.rows);
    for (std::uint8_t& item : items) item &= 3;
    truths.add(stored_type::truth, items);
    truths.result = at(kind::column);
    truths.passes = [items](std::size_t row) { return items[row] != 0; };
    expect_marks(truths, 100);

    table row_numbers;  // without a column
    row_numbers.rows = 4000;
    row_numbers.constants = {constant(std::int64_t{1234})};
    row_numbers.steps = {step(opcode::less, value_type::i64, at(kind::row), at(kind::constant), 3)};
    row_numbers.result = at(kind::marks, 3);
    row_numbers.passes = [](std::size_t row) { return row < 1234; };
    expect_marks(row_numbers, 1000);
}

/// `column remainder divisor == 0` with many values held, so that the other kernel runs.
table remainders(std::size_t rows, const std::vector<std::int32_t>& divisors) {
    table made;
    made.rows = rows;
    std::vector<std::int64_t> items = numbers<std::int64_t>(rows);
    made.add(stored_type::i64, items);
    made.add(stored_type::i32, divisors);
    made.constants = {constant(std::int64_t{0})};
    made.value_slots = 3;
    row_step rest =
        step(opcode::remainder, value_type::i64, at(kind::column, 0), at(kind::column, 1), 2);
    rest.checked = true;
    made.steps = {rest,
                  step(opcode::equal, value_type::i64, at(kind::values, 2), at(kind::constant), 0)};
    made.result = at(kind::marks);
    made.passes = [=](std::size_t row) { return items[row] % divisors[row] == 0; };
    return made;
}

TEST_F(CudaRowStream, RangeTestsAreChosenWhereTheySayTheSame) {
    const table from = small_floats(500);
    EXPECT_EQ(strategy_of(from.condition()), row_strategy::terms);
    std::vector<bool> marks;
    row_stream stream = stream_of(from, 200, 500, marks, row_strategy::terms);
    stream.strategy = row_strategy::automatic;
    mark_rows(*gpu_, stream);
    EXPECT_EQ(marks.size(), from.rows);

    const table computed = remainders(500, std::vector<std::int32_t>(500, 7));
    EXPECT_EQ(strategy_of(computed.condition()), row_strategy::steps);
    marks.clear();
    stream = stream_of(computed, 200, 500, marks, row_strategy::steps);
    stream.strategy = row_strategy::automatic;
    mark_rows(*gpu_, stream);
    EXPECT_EQ(marks.size(), computed.rows);
}

TEST_F(CudaRowStream, FaultsAreThoseOfTheirBatch) {
    constexpr std::size_t rows = 1000;
    std::vector<std::int32_t> divisors(rows, 7);
    expect_marks(remainders(rows, divisors), 256);
    divisors[300] = 0;
    const table faulty = remainders(rows, divisors);
    std::vector<bool> ignored;
    row_stream stream = stream_of(faulty, 256, rows, ignored);
    std::vector<bool> faults;
    stream.take = [&](const row_batch& done) {
        faults.push_back(done.fault);
        // What the caller needs to find the row.
        std::int32_t divisor = 0;
        std::memcpy(&divisor, done.columns[1] + 44 * sizeof(divisor), sizeof(divisor));
        EXPECT_EQ(divisor, done.first == 256 ? 0 : 7);
    };
    mark_rows(*gpu_, stream);
    EXPECT_EQ(faults, (std::vector<bool>{false, true, false, false}));
}

TEST_F(CudaRowStream, WhatIsThrownEndsItAndIsThrownOn) {
    const table from = small_floats(1000);
    for (const bool in_read : {true, false}) {
        std::vector<bool> marks;
        row_stream stream = stream_of(from, 100, 1000, marks);
        int calls = 0;
        const auto fail_at_third = [&] {
            if (++calls == 3) throw std::runtime_error("enough");
        };
        if (in_read) {
            stream.read = [&, read = stream.read](auto first, auto most, auto columns) {
                fail_at_third();
                return read(first, most, columns);
            };
        } else {
            stream.take = [&](const row_batch&) { fail_at_third(); };
        }
        EXPECT_THROW(mark_rows(*gpu_, stream), std::runtime_error);
        expect_marks(from, 100);  // the context goes on
    }
}

TEST_F(CudaRowStream, RefusesWhatIsNotThere) {
    const table from = small_floats(10);
    std::vector<bool> marks;
    const auto refused = [&](const table& changed) {
        return refusal(stream_of(changed, 10, 10, marks));
    };
    table wrong = from;
    wrong.steps[0].left.at = 1;
    EXPECT_NE(refused(wrong).find("step 0 has a column that is not there"), std::string::npos);
    wrong = from;
    wrong.steps[0].right.at = 9;
    EXPECT_NE(refused(wrong).find("a constant that is not there"), std::string::npos);
    wrong = from;
    wrong.types[0] = stored_type::f64;
    EXPECT_NE(refused(wrong).find("a column of another type"), std::string::npos);
    wrong = from;
    wrong.steps[0].target = 200;
    EXPECT_NE(refused(wrong).find("a place beyond 16"), std::string::npos);
    wrong = from;
    wrong.result = at(kind::values);
    EXPECT_NE(refused(wrong).find("the condition has"), std::string::npos);
    wrong = from;
    wrong.result = {};
    EXPECT_NE(refused(wrong).find("an operand too few"), std::string::npos);
    wrong = from;
    wrong.value_slots = 99;
    EXPECT_NE(refused(wrong).find("99 slots"), std::string::npos);

    row_stream stream = stream_of(from, 10, 0, marks);
    EXPECT_NE(refusal(stream).find("read() gave 0 rows"), std::string::npos);
    stream.batch_rows = 0;
    EXPECT_NE(refusal(stream).find("batches of 0 rows"), std::string::npos);
    const table computed = remainders(10, std::vector<std::int32_t>(10, 7));
    stream = stream_of(computed, 10, 10, marks, row_strategy::terms);
    EXPECT_NE(refusal(stream).find("more than 6 range tests"), std::string::npos);
    stream = stream_of(from, 10, 10, marks);
    stream.take = {};
    EXPECT_NE(refusal(stream).find("lacks a function"), std::string::npos);
}

TEST(RowStream, NeedsAGpu) {
    const context cpu({.backend = backend::cpu});
    const table from = small_floats(10);
    row_stream stream;
    stream.condition = from.condition();
    EXPECT_THROW(mark_rows(cpu, stream), error);
}

}  // namespace
}  // namespace lookback
