// Level L0 (core), host only: the keys of the values that a column stores, and sets of them.
// Invariant: keys are those of key_order.hpp, in the order of the values, each of other bits;
// NaNs lie outside the numbers.
#pragma once

#include <lookback/kernels/core/key_order.hpp>
#include <lookback/kernels/core/key_set.hpp>
#include <lookback/kernels/core/row_terms.hpp>

#include <limits>

namespace lookback::core {

/// The keys of a stored type.
class stored_keys {
public:
    explicit stored_keys(stored_type type) : type_(type) {}

    std::uint64_t end() const {
        return std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * bytes_of(type_));
    }
    /// The least and the greatest number; beyond are NaNs.
    std::uint64_t least() const { return is_real_type(type_) ? key(infinity() | sign()) : 0; }
    std::uint64_t most() const { return is_real_type(type_) ? key(infinity()) : end(); }
    std::uint64_t zero() const { return is_real_type(type_) ? key(0) : 0; }

    std::uint64_t key(std::uint64_t bits) const {
        return with_order([bits](auto order) {
            using word = typename decltype(order)::bits_type;
            return std::uint64_t{order.of_unambiguous(static_cast<word>(bits))};
        });
    }
    std::uint64_t bits(std::uint64_t key) const {
        return with_order([key](auto order) {
            using word = typename decltype(order)::bits_type;
            return std::uint64_t{order.restored(static_cast<word>(key))};
        });
    }

private:
    std::uint64_t sign() const { return std::uint64_t{1} << (8 * bytes_of(type_) - 1); }
    std::uint64_t infinity() const {
        switch (type_) {
            case stored_type::f16:
                return float_order<std::uint16_t>::infinity;
            case stored_type::f32:
                return float_order<std::uint32_t>::infinity;
            default:
                return float_order<std::uint64_t>::infinity;
        }
    }
    template <class Body>
    std::uint64_t with_order(const Body& body) const {
        const key_kind kind = is_real_type(type_)         ? key_kind::floating
                              : type_ <= stored_type::i64 ? key_kind::signed_integer
                                                          : key_kind::unsigned_integer;
        switch (bytes_of(type_)) {
            case 1:
                return body(make_key_order<std::uint8_t>(kind, false, false));
            case 2:
                return body(make_key_order<std::uint16_t>(kind, false, false));
            case 4:
                return body(make_key_order<std::uint32_t>(kind, false, false));
            default:
                return body(make_key_order<std::uint64_t>(kind, false, false));
        }
    }

    stored_type type_;
};

}  // namespace lookback::core
