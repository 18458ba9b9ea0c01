#include "common/integer_range.hpp"

#include <algorithm>
#include <limits>

namespace lookback::apps {
namespace {

using core::checked_add;
using core::checked_multiply;
using core::checked_subtract;
using core::floored_remainder;
using core::shifted_left;
using core::shifted_right;

constexpr int128 greatest = static_cast<int128>(~uint128{0} >> 1);
constexpr int128 least = -greatest - 1;

}  // namespace

integer_range both(const integer_range& a, const integer_range& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.open || b.open};
}

value_type holding(const integer_range& range) {
    using signed_limits = std::numeric_limits<std::int64_t>;
    using unsigned_limits = std::numeric_limits<std::uint64_t>;
    if (range.low >= signed_limits::min() && range.high <= signed_limits::max()) {
        return value_type::i64;
    }
    if (range.low >= 0 && range.high <= int128{unsigned_limits::max()}) return value_type::u64;
    return value_type::i128;
}

integer_range range_of(opcode op, const integer_range& a, const integer_range& b) {
    const auto corners = [&](auto compute) {
        integer_range result{greatest, least, a.open || b.open};
        for (const int128 x : {a.low, a.high}) {
            for (const int128 y : {b.low, b.high}) {
                bool over = false;
                const int128 value = compute(x, y, over);
                result.open = result.open || over;
                result.low = std::min(result.low, value);
                result.high = std::max(result.high, value);
            }
        }
        if (result.open) return integer_range{least, greatest, true};
        return result;
    };
    switch (op) {
        case opcode::add:
            return corners(checked_add<int128>);
        case opcode::subtract:
            return corners(checked_subtract<int128>);
        case opcode::multiply:
            return corners(checked_multiply<int128>);
        case opcode::shift_left:
            return corners([&](int128 x, int128 y, bool& over) {
                const int128 by = std::clamp<int128>(y, 0, 127);
                const int128 value = shifted_left<int128>(x, by, over);
                over = over || (y > 127 && x != 0);
                return value;
            });
        case opcode::shift_right:
            return {std::min<int128>(a.low, 0), std::max<int128>(a.high, 0), false};
        case opcode::remainder:
            return {b.low < 0 ? b.low : 0, b.high > 0 ? b.high : 0, false};
        case opcode::minimum:
            return {std::min(a.low, b.low), std::min(a.high, b.high), false};
        case opcode::maximum:
            return {std::max(a.low, b.low), std::max(a.high, b.high), false};
        default:
            break;
    }
    // Bits: as many as the wider of the two has.
    const integer_range all = both(a, b);
    if (op == opcode::bit_and && (a.low >= 0 || b.low >= 0)) {
        const int128 bound = a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high);
        return {0, bound, false};
    }
    int128 power = 1;
    while (power < greatest / 2 && (power <= all.high || -power > all.low)) power *= 2;
    if (power <= all.high || -power > all.low) return {least, greatest, false};
    return {all.low < 0 ? -power : 0, power - 1, false};
}

int128 compute_whole(opcode op, int128 a, int128 b, bool& fault) {
    switch (op) {
        case opcode::add:
            return checked_add(a, b, fault);
        case opcode::subtract:
            return checked_subtract(a, b, fault);
        case opcode::multiply:
            return checked_multiply(a, b, fault);
        case opcode::remainder:
            return floored_remainder(a, b, fault);
        case opcode::shift_left:
            return shifted_left(a, b, fault);
        case opcode::shift_right:
            return shifted_right(a, b, fault);
        case opcode::minimum:
            return std::min(a, b);
        case opcode::maximum:
            return std::max(a, b);
        case opcode::bit_and:
            return a & b;
        case opcode::bit_or:
            return a | b;
        default:
            return a ^ b;
    }
}

}  // namespace lookback::apps
