// Level L0 (core), host only: what a column's values are to a comparison with a constant, and the
// set of keys for which that comparison holds. The set's ends are found by bisection with the
// operations of row_values.hpp on single values, so that no rule of conversion is stated twice.
// Invariant: keys are those of key_order.hpp, in the order of the values.
#pragma once

#include <lookback/kernels/core/row_values.hpp>
#include <lookback/kernels/core/stored_keys.hpp>

#include <cstring>
#include <initializer_list>
#include <optional>
#include <vector>

namespace lookback::core {

/// body.template operator()<T>() with the type of a number in a register.
template <class Body>
auto with_number(value_type type, const Body& body) {
    switch (type) {
        case value_type::u64:
            return body.template operator()<std::uint64_t>();
        case value_type::i128:
            return body.template operator()<int128>();
        case value_type::f32:
            return body.template operator()<float>();
        case value_type::f64:
            return body.template operator()<double>();
        default:
            return body.template operator()<std::int64_t>();
    }
}
template <class T>
T number_in(const row_constant& held) {
    T value;
    std::memcpy(&value, held.words, sizeof(T));
    return value;
}
template <class T>
row_constant holding_number(T value) {
    row_constant held{};
    std::memcpy(held.words, &value, sizeof(T));
    return held;
}

/// A column as a register holds it, after conversions that keep its order.
class row_reading {
public:
    row_reading(std::uint32_t column, stored_type stored, value_type type)
        : column_(column), stored_(stored), type_(type), held_(type) {}

    std::uint32_t column() const { return column_; }
    value_type type() const { return held_; }

    /// Nothing where a register of this type does not hold the values in their order.
    static std::optional<row_reading> of(std::uint32_t column, stored_type stored,
                                         value_type type) {
        const bool narrow_whole = stored <= stored_type::u32;
        bool fits = false;
        switch (type) {
            case value_type::boolean:
                fits = stored == stored_type::truth;
                break;
            case value_type::i64:
            case value_type::i128:
                fits = narrow_whole;
                break;
            case value_type::u64:
                fits = stored == stored_type::u64;
                break;
            case value_type::f32:
                fits = stored == stored_type::f16 || stored == stored_type::f32;
                break;
            case value_type::f64:
                fits = stored == stored_type::f64;
                break;
            default:
                break;
        }
        if (!fits) return std::nullopt;
        return row_reading(column, stored, type);
    }

    /// The same after a step of the operation convert.
    std::optional<row_reading> converted(value_type to) const {
        const bool to_real = to == value_type::f32 || to == value_type::f64;
        const bool from_real = held_ == value_type::f32 || held_ == value_type::f64;
        // Numbers below 0 have no place in u64, and those beyond 63 bits none in i64.
        const bool kept = to_real || to == value_type::i128 ||
                          (to == value_type::u64 && stored_ >= stored_type::u8) ||
                          (to == value_type::i64 && held_ == value_type::boolean);
        if (ordered_ || !kept || (from_real && !to_real)) return std::nullopt;
        row_reading made = *this;
        made.conversions_.push_back(to);
        made.held_ = to;
        return made;
    }
    /// The same after a step of the operation order_exactly against a constant.
    std::optional<row_reading> ordered_against(double value) const {
        if (ordered_ || held_ != value_type::i128) return std::nullopt;
        row_reading made = *this;
        made.ordered_ = value;
        made.held_ = value_type::i64;
        return made;
    }

    /// The keys for which the comparison holds; nothing where its steps have other types.
    std::optional<key_set> compared(opcode op, value_type type, const row_constant& with) const {
        if (type != held_ || type == value_type::boolean) return std::nullopt;
        const auto holds_under = [&](opcode relation) {
            return [this, relation, &with](std::uint64_t key) {
                return with_number(held_, [&]<class T>() {
                    const T left = number_in<T>(value_of(key));
                    const T right = number_in<T>(with);
                    bool truth = false;
                    with_comparison<T>(relation, [&](auto f) { truth = f(left, right); });
                    return truth;
                });
            };
        };
        key_set found;
        if (op == opcode::less || op == opcode::less_equal) {
            found = beginning(holds_under(op));
        } else if (op == opcode::greater || op == opcode::greater_equal) {
            found = ending(holds_under(op));
        } else {
            found = key_set::joined(beginning(holds_under(opcode::less_equal)),
                                    ending(holds_under(opcode::greater_equal)),
                                    [](bool a, bool b) { return a && b; });
            if (op == opcode::not_equal) found = found.inverse();
        }
        return checked(found, holds_under(op));
    }

    /// The keys for which is_nan or is_finite holds.
    std::optional<key_set> tested(opcode op, value_type type) const {
        if (type != held_ || !is_real_held()) return std::nullopt;
        const auto truth = [&](std::uint64_t key) {
            return with_number(held_, [&]<class T>() {
                if constexpr (is_real<T>) {
                    return test_real(op, number_in<T>(value_of(key)));
                } else {
                    return false;
                }
            });
        };
        const stored_keys keys(stored_);
        if (op == opcode::is_nan) {
            return checked(key_set::of_range(keys.least(), keys.most(), keys.end()).inverse(),
                           truth);
        }
        const std::uint64_t first = first_true(keys.least(), keys.zero(), truth);
        const std::uint64_t last =
            first_true(keys.zero(), keys.most(), [&](std::uint64_t key) { return !truth(key); });
        return checked(key_set::of_range(first, last - 1, keys.end()), truth);
    }

private:
    bool is_real_held() const { return held_ == value_type::f32 || held_ == value_type::f64; }

    row_constant loaded(std::uint64_t bits) const {
        const auto as = [&](auto value) {
            return with_number(type_,
                               [&]<class T>() { return holding_number<T>(static_cast<T>(value)); });
        };
        switch (stored_) {
            case stored_type::i8:
                return as(static_cast<std::int8_t>(bits));
            case stored_type::i16:
                return as(static_cast<std::int16_t>(bits));
            case stored_type::i32:
                return as(static_cast<std::int32_t>(bits));
            case stored_type::i64:
                return as(static_cast<std::int64_t>(bits));
            case stored_type::f16:
                return as(widen_half(static_cast<std::uint16_t>(bits)));
            case stored_type::f32: {
                const auto word = static_cast<std::uint32_t>(bits);
                float value = 0;
                std::memcpy(&value, &word, sizeof(value));
                return as(value);
            }
            case stored_type::f64: {
                double value = 0;
                std::memcpy(&value, &bits, sizeof(value));
                return as(value);
            }
            case stored_type::truth:
                return as(bits != 0 ? 1 : 0);
            default:
                return as(bits);
        }
    }

    /// As the comparison gets it.
    row_constant value_of(std::uint64_t key) const {
        row_constant value = loaded(stored_keys(stored_).bits(key));
        value_type type = type_;
        for (const value_type to : conversions_) {
            value = with_number(type, [&]<class From>() {
                return with_number(to, [&]<class To>() {
                    return holding_number<To>(static_cast<To>(number_in<From>(value)));
                });
            });
            type = to;
        }
        if (!ordered_) return value;
        return holding_number<std::int64_t>(exact_order(number_in<int128>(value), *ordered_));
    }

    /// The first key in [first, last] for which `holds`, where it does from some key on; else
    /// last + 1.
    template <class Holds>
    static std::uint64_t first_true(std::uint64_t first, std::uint64_t last, const Holds& holds) {
        if (!holds(last)) return last + 1;
        while (first < last) {
            const std::uint64_t middle = first + (last - first) / 2;
            if (holds(middle)) {
                last = middle;
            } else {
                first = middle + 1;
            }
        }
        return first;
    }
    template <class Holds>
    key_set ending(const Holds& holds) const {
        const stored_keys keys(stored_);
        if (!holds(keys.most())) return {};
        return key_set::of_range(first_true(keys.least(), keys.most(), holds), keys.most(),
                                 keys.end());
    }
    template <class Holds>
    key_set beginning(const Holds& holds) const {
        const stored_keys keys(stored_);
        if (!holds(keys.least())) return {};
        const auto fails = [&](std::uint64_t key) { return !holds(key); };
        const std::uint64_t past =
            fails(keys.most()) ? first_true(keys.least(), keys.most(), fails) : keys.most() + 1;
        // past is 0 where it is beyond the last number of 64 bits.
        return key_set::of_range(keys.least(), past - 1, keys.end());
    }

    /// The set, if the question is answered as it says at every end, and for NaNs.
    template <class Holds>
    std::optional<key_set> checked(key_set found, const Holds& holds) const {
        const stored_keys keys(stored_);
        const auto agrees = [&](std::uint64_t key) { return found.has(key) == holds(key); };
        for (const std::uint64_t at :
             {std::uint64_t{0}, keys.least(), keys.zero(), keys.most(), keys.end()}) {
            if (!agrees(at)) return std::nullopt;
        }
        for (const std::uint64_t at : found.flips()) {
            if (!agrees(at) || (at > 0 && !agrees(at - 1))) return std::nullopt;
        }
        return found;
    }

    std::uint32_t column_;
    stored_type stored_;
    value_type type_;  // in which it is read
    value_type held_;  // after the conversions
    std::vector<value_type> conversions_;
    std::optional<double> ordered_;
};

}  // namespace lookback::core
