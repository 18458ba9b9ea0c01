// Expressions on the device against loops of the host: sizes around those of parts, warps and
// tiles, every operand's place, faults with and without guards, rows that do not exist. What
// expressions mean is tested by apps_expression_fuzz, with the same kernels.
#include "support/device_array.cuh"
#include "support/row_steps.hpp"
#include "support/scan_operators.cuh"

#include <lookback/kernels/device/compact.cuh>
#include <lookback/kernels/device/row_machine.cuh>

#include <cmath>
#include <functional>

namespace lookback::test {
namespace {

using core::index_t;
using core::opcode;
using core::row_operand;
using core::row_step;
using core::value_type;
using kind = row_operand::kind;

constexpr std::size_t padding = core::row_program::padding;

/// Columns a (f32), b (i32) and c (u8 truth), and what a program gives for their rows.
class table {
public:
    explicit table(std::size_t rows)
        : rows_(rows), a_(rows + padding), b_(rows + padding), c_(rows + padding) {
        for (std::size_t i = 0; i < rows + padding; ++i) {
            const std::uint64_t bits = scramble(i);
            a_[i] = i % 11 == 0 ? NAN : static_cast<float>(bits % 1000) / 1000;
            b_[i] = static_cast<std::int32_t>(bits >> 20) % 50;
            c_[i] = static_cast<std::uint8_t>(bits >> 40 & 2);
            if (i >= rows) b_[i] = 0;  // would be a fault, if it were there
        }
    }
    float a(std::size_t i) const { return a_[i]; }
    std::int64_t b(std::size_t i) const { return b_[i]; }
    bool c(std::size_t i) const { return c_[i] != 0; }

    struct outcome {
        std::vector<std::uint32_t> words;
        index_t count;
        bool fault;
    };
    template <int Slots>
    outcome run(const std::vector<row_step>& steps, row_operand result,
                const std::vector<core::row_constant>& constants, index_t first_row) const {
        const device_array<float> a(a_);
        const device_array<std::int32_t> b(b_);
        const device_array<std::uint8_t> c(c_);
        using core::stored_type;
        const device_array<core::row_column> columns(
            std::vector<core::row_column>{{a.data(), stored_type::f32},
                                          {b.data(), stored_type::i32},
                                          {c.data(), stored_type::truth}});
        const device_array<row_step> on_device(steps);
        const device_array<core::row_constant> values(constants);
        device_array<std::uint32_t> fault(1);
        fault.fill_bytes(0);
        const auto items = static_cast<index_t>(rows_);
        device_array<std::uint32_t> words(rows_ / 32 + 1);
        words.fill_bytes(0);
        device_array<index_t> count(1);
        device_array<unsigned char> workspace(device::compact_workspace_bytes(items));
        workspace.fill_bytes(0);
        const device::program_marks<Slots> source{{on_device.data(), static_cast<int>(steps.size()),
                                                   result, columns.data(), values.data(), first_row,
                                                   fault.data()}};
        using request = device::compact_request<device::marks_alone>;
        const request all{.rows = {words.data(), nullptr}, .items = items, .count = count.data()};
        require(device::compact_under<tuning::program_policy>(
                    {workspace.data(), workspace.size(), nullptr}, all, source, nullptr),
                "marks");
        return {words.host(), count.host().front(), fault.host().front() != 0};
    }

    /// Both forms of the kernel against `expected` of every row.
    void check(const std::vector<row_step>& steps, row_operand result,
               const std::vector<core::row_constant>& constants,
               const std::function<bool(std::size_t)>& expected, bool fault = false,
               index_t first_row = 0) const {
        const auto compare = [&](const outcome& got) {
            EXPECT_EQ(got.fault, fault) << rows_;
            index_t count = 0;
            for (std::size_t i = 0; i < rows_; ++i) {
                const bool mark = (got.words[i / 32] >> i % 32 & 1) != 0;
                ASSERT_EQ(mark, expected(i)) << "row " << i << " of " << rows_;
                count += mark ? 1 : 0;
            }
            EXPECT_EQ(got.count, count);
        };
        compare(run<core::few_value_slots>(steps, result, constants, first_row));
        compare(run<core::value_slots>(steps, result, constants, first_row));
    }

private:
    std::size_t rows_;
    std::vector<float> a_;
    std::vector<std::int32_t> b_;
    std::vector<std::uint8_t> c_;
};

const row_operand a = at(kind::column, 0);
const row_operand b = at(kind::column, 1);
const row_operand c = at(kind::column, 2);

class RowProgram : public CudaTest {
protected:
    static constexpr std::size_t sizes[] = {0,    1,    31,   32,   33,    255,   256,   257,  1023,
                                            1024, 1025, 2048, 4097, 16384, 16385, 32768, 50000};
};

TEST_F(RowProgram, ConditionsOfColumnsAndConstants) {
    const std::vector<row_step> steps{
        step(opcode::less, value_type::f32, a, at(kind::constant, 0), 0),
        step(opcode::greater_equal, value_type::i64, b, at(kind::constant, 1), 1),
        step(opcode::logical_or, value_type::boolean, at(kind::marks, 0), at(kind::marks, 1), 9),
        step(opcode::logical_and, value_type::boolean, at(kind::marks, 9), c, 15),
        step(opcode::logical_not, value_type::boolean, at(kind::marks, 15), {}, 0)};
    const std::vector<core::row_constant> constants{constant(0.5F), constant(std::int64_t{20})};
    for (const std::size_t rows : sizes) {
        const table data(rows);
        data.check(steps, at(kind::marks, 0), constants, [&](std::size_t i) {
            return !((data.a(i) < 0.5F || data.b(i) >= 20) && data.c(i));
        });
    }
}

TEST_F(RowProgram, ValuesBetweenStepsAndRowNumbers) {
    // (b + row) * b != a column against a column, both sides computed.
    const std::vector<row_step> steps{
        step(opcode::add, value_type::i64, b, at(kind::row), 0),
        step(opcode::multiply, value_type::i64, at(kind::values, 0), b, 1),
        step(opcode::subtract, value_type::i64, at(kind::constant, 0), b, 0),
        step(opcode::less, value_type::i64, at(kind::values, 1), at(kind::values, 0), 3)};
    for (const std::size_t rows : {1U, 300U, 20000U}) {
        const table data(rows);
        data.check(
            steps, at(kind::marks, 3), {constant(std::int64_t{40000})},
            [&](std::size_t i) {
                const std::int64_t sum = data.b(i) + static_cast<std::int64_t>(i) + 1000;
                return sum * data.b(i) < 40000 - data.b(i);
            },
            false, 1000);
    }
}

TEST_F(RowProgram, ResultsThatAreColumnsOrConstants) {
    const table data(5000);
    data.check({}, c, {}, [&](std::size_t i) { return data.c(i); });
    data.check({}, at(kind::constant, 0), {constant(std::uint64_t{1})},
               [](std::size_t) { return true; });
    data.check({}, at(kind::constant, 0), {constant(std::uint64_t{0})},
               [](std::size_t) { return false; });
}

TEST_F(RowProgram, FaultsCountWhereTheirGuardIsTrueAndTheRowExists) {
    const table data(20000);
    const std::vector<core::row_constant> constants{constant(std::int64_t{0}),
                                                    constant(std::int64_t{100})};
    std::vector<row_step> steps{
        step(opcode::not_equal, value_type::i64, b, at(kind::constant, 0), 0),
        step(opcode::remainder, value_type::i64, at(kind::constant, 1), b, 0),
        step(opcode::equal, value_type::i64, at(kind::values, 0), at(kind::constant, 0), 1),
        step(opcode::logical_and, value_type::boolean, at(kind::marks, 0), at(kind::marks, 1), 2)};
    steps[1].checked = true;
    const auto expected = [&](std::size_t i) { return data.b(i) != 0 && 100 % data.b(i) == 0; };
    data.check(steps, at(kind::marks, 2), constants, expected, true);
    steps[1].guard = 0;
    data.check(steps, at(kind::marks, 2), constants, expected, false);
}

}  // namespace
}  // namespace lookback::test
