// A program for tests: evaluates many expressions over small tables in one process. Each case comes
// on stdin: "COLUMNS ROWS BYTES\n", the expression of BYTES bytes, then for each column
// "NAME KIND\n" (numpy's kinds: <i4, >f8, |b1, |S5) and its rows as they lie in memory. The answer
// is a line: "ok " and a digit a row, "fault ROW", or "error TEXT". Built twice more, with the
// kernels on a GPU and on the emulated device: what these cannot run is answered by the CPU, and
// "ok" is followed by " terms" where range tests were run.
#include "common/expression.hpp"
#include "common/program.hpp"
#include "common/program_run.hpp"
#if defined(LOOKBACK_CASES_ON_DEVICE)
#include "apps/expression_device.cuh"
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace lookback;
using namespace lookback::apps;

struct column {
    std::string kind;
    std::size_t bytes = 0;
    std::vector<char> rows;
};

program_input input_of(const std::string& name, const column& from) {
    program_input input{name, from.kind[1] == 'S', from.kind[1] == 'b', data_type::u8};
    static const std::map<std::string, data_type> numbers{
        {"i1", data_type::i8},  {"i2", data_type::i16}, {"i4", data_type::i32},
        {"i8", data_type::i64}, {"u1", data_type::u8},  {"u2", data_type::u16},
        {"u4", data_type::u32}, {"u8", data_type::u64}, {"f2", data_type::f16},
        {"f4", data_type::f32}, {"f8", data_type::f64}, {"b1", data_type::u8}};
    if (!input.is_text) input.number = numbers.at(from.kind.substr(1));
    return input;
}

// The first row with a fault. A device knows only that there is one.
std::optional<std::uint64_t> mark(const program& code, const std::vector<input_rows>& inputs,
                                  std::size_t rows, std::vector<std::uint64_t>& words,
                                  [[maybe_unused]] bool& terms) {
#if defined(LOOKBACK_CASES_ON_DEVICE)
    const bool on_device = !why_not_steps(code);
    if (on_device) {
        const test::device_answer found = test::mark_on_device(code, inputs, rows, words);
        terms = found.terms;
        if (!found.fault) return std::nullopt;
    }
#else
    constexpr bool on_device = false;
#endif
    const auto fault = program_run(code).mark(inputs, 0, rows, words.data());
    if (fault) return fault->row;
    if (on_device) throw std::runtime_error("the device found a fault where there is none");
    return std::nullopt;
}

std::string answer(const std::string& text, const std::map<std::string, column>& table,
                   std::size_t rows) {
    const program code =
        compile(parse_expression(text), [&](const std::string& name, std::size_t at) {
            const auto found = table.find(name);
            if (found == table.end()) refuse_expression(at, "there is no column '" + name + "'");
            return input_of(name, found->second);
        });
    std::vector<input_rows> inputs;
    for (const program_input& input : code.inputs) {
        const column& from = table.at(input.name);
        input_rows in;
        in.data = reinterpret_cast<const std::byte*>(from.rows.data());
        in.stride = in.text_bytes = from.bytes;
        in.swapped = from.kind[0] == '>';
        inputs.push_back(in);
    }
    std::vector<std::uint64_t> words((rows + 63) / 64);
    bool terms = false;
    if (const auto row = mark(code, inputs, rows, words, terms)) {
        return "fault " + std::to_string(*row);
    }
    std::string result = "ok ";
    for (std::size_t i = 0; i < rows; ++i) {
        result += static_cast<char>('0' + (words[i / 64] >> i % 64 & 1U));
    }
    return result + (terms ? " terms" : "");
}

std::string read_bytes(std::size_t bytes) {
    std::string text(bytes, '\0');
    if (!std::cin.read(text.data(), static_cast<std::streamsize>(bytes))) {
        throw std::runtime_error("the case ends early");
    }
    return text;
}

}  // namespace

int main() {
    std::ios::sync_with_stdio(false);
    for (;;) {
        std::size_t columns = 0;
        std::size_t rows = 0;
        std::size_t bytes = 0;
        if (!(std::cin >> columns >> rows >> bytes)) return 0;
        std::cin.get();
        const std::string text = read_bytes(bytes);
        std::map<std::string, column> table;
        for (std::size_t c = 0; c < columns; ++c) {
            std::string name;
            column one;
            std::cin >> name >> one.kind;
            std::cin.get();
            one.bytes = static_cast<std::size_t>(std::atoi(one.kind.c_str() + 2));
            const std::string data = read_bytes(rows * one.bytes);
            one.rows.assign(data.begin(), data.end());
            table.emplace(name, std::move(one));
        }
        try {
            std::cout << answer(text, table, rows) << "\n";
        } catch (const std::exception& failure) {
            std::cout << "error " << failure.what() << "\n";
        }
        std::cout.flush();
    }
}
