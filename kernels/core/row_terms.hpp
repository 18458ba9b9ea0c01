// Level L0 (core): conditions over a few columns as range tests and a truth table: what most
// expressions come to. Invariant: a test is (key - low) <= span in the key's unsigned type, where
// keys stand in the order of the values and NaNs outside all of them; nothing can fail.
#pragma once

#include <lookback/kernels/core/row_steps.hpp>

namespace lookback::core {

LOOKBACK_HD constexpr bool is_real_type(stored_type type) {
    return type == stored_type::f16 || type == stored_type::f32 || type == stored_type::f64;
}

/// The number that tests compare. `word`: the value's bits, those of less than 32 at the upper end
/// of 32, the lower ones 0. Integers are their own keys: on the circle of all numbers a range of
/// signed ones is a range as well.
template <class Word>
LOOKBACK_HD constexpr Word term_key(Word word, bool real) {
    constexpr int sign_at = 8 * static_cast<int>(sizeof(Word)) - 1;
    constexpr Word others = static_cast<Word>(~(Word{1} << sign_at));
    if (!real) return word;
    return static_cast<Word>(word ^ ((Word{0} - (word >> sign_at)) & others));
}
/// By how many bits a value is shifted up to be such a word.
LOOKBACK_HD constexpr int term_shift(int bytes) {
    return bytes < 4 ? 32 - 8 * bytes : 0;
}

/// Keys from low on, span + 1 of them; of columns of 8 bytes in 64 bits, of others in 32.
struct alignas(16) row_range {
    std::uint64_t low;
    std::uint64_t span;
};

/// The tests of one column.
struct alignas(16) row_term_group {
    std::uint32_t column;
    std::uint32_t first;  ///< test
    std::uint32_t count;
    std::uint32_t unused;
};

struct row_terms {
    static constexpr int most = 6;

    row_range ranges[most];
    row_term_group groups[most];
    /// All bits or none: whether the condition holds where bit t of the index says what test t
    /// does.
    alignas(16) std::uint32_t table[1 << most];
    std::uint32_t group_count;
    std::uint32_t count;  ///< of tests
};

/// One row, by the definition. `bits_of(column)`: the value's bits, in the lower end of 64.
template <class BitsOf>
bool holds(const row_terms& terms, const stored_type* columns, const BitsOf& bits_of) {
    std::uint32_t found = 0;
    for (std::uint32_t g = 0; g < terms.group_count; ++g) {
        const row_term_group& group = terms.groups[g];
        const stored_type type = columns[group.column];
        const std::uint64_t bits = bits_of(group.column);
        for (std::uint32_t t = group.first; t < group.first + group.count; ++t) {
            const row_range& range = terms.ranges[t];
            bool inside = false;
            if (bytes_of(type) == 8) {
                inside = term_key(bits, is_real_type(type)) - range.low <= range.span;
            } else {
                const auto word = static_cast<std::uint32_t>(bits << term_shift(bytes_of(type)));
                const auto low = static_cast<std::uint32_t>(range.low);
                const auto span = static_cast<std::uint32_t>(range.span);
                inside = term_key(word, is_real_type(type)) - low <= span;
            }
            found |= (inside ? 1U : 0U) << t;
        }
    }
    return terms.table[found] != 0;
}

}  // namespace lookback::core
