#include "common/program_operand.hpp"

#include "common/half.hpp"

#include <cmath>

#include <fmt/format.h>

namespace lookback::apps {

std::string_view name_of(const operand& part) {
    switch (part.is) {
        case nature::truth:
            return "a condition";
        case nature::whole:
            return "an integer";
        case nature::real:
            return "a real number";
        case nature::text:
            break;
    }
    return "text";
}

operand constant_whole(int128 value, std::size_t column) {
    operand result{.is = nature::whole, .column = column, .constant = true};
    result.range = {value, value, false};
    result.value.whole = value;
    return result;
}

operand constant_real(double value, std::size_t column) {
    operand result{.is = nature::real, .column = column, .constant = true};
    result.value.real = value;
    return result;
}

operand constant_truth(bool value, std::size_t column) {
    operand result = constant_whole(value ? 1 : 0, column);
    result.is = nature::truth;
    return result;
}

operand in_place(nature is, value_type type, int place, std::size_t column) {
    operand result{.is = is, .column = column};
    result.type = type;
    result.place = place;
    if (is == nature::truth) result.range = {0, 1, false};
    return result;
}

void require_number(const operand& part, std::string_view where) {
    if (part.is == nature::text) {
        refuse_expression(part.column, fmt::format("{} takes numbers, not text", where));
    }
}

void require_whole(const operand& part, std::string_view where) {
    if (!part.numeric()) {
        refuse_expression(part.column,
                          fmt::format("{} takes integers, and this is {}", where, name_of(part)));
    }
}

double real_of(const operand& part) {
    return part.numeric() ? static_cast<double>(part.value.whole) : part.value.real;
}

meeting meet(const operand& left, const operand& right) {
    const auto narrow = [](const operand& part) {
        return part.constant || (part.is == nature::real && part.type == value_type::f32);
    };
    if ((left.constant && right.constant) || !narrow(left) || !narrow(right)) return {};
    const auto half = [](const operand& part) { return part.constant || part.half; };
    const meeting where{value_type::f32, half(left) && half(right)};
    // A constant that its column's type cannot hold stays as it is.
    for (const operand& part : {left, right}) {
        const bool lost = part.constant && std::isfinite(real_of(part)) &&
                          !std::isfinite(real_of(as_real(part, where)));
        if (lost) return {};
    }
    return where;
}

operand as_real(const operand& part, const meeting& where) {
    if (!part.constant) return part;
    double value = real_of(part);
    if (where.type == value_type::f32) {
        auto narrow = static_cast<float>(value);
        if (where.half) narrow = round_to_half(narrow);
        value = static_cast<double>(narrow);
    }
    return constant_real(value, part.column);
}

}  // namespace lookback::apps
