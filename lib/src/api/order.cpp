#include "api/context_state.hpp"
#include "api/sort_checks.hpp"
#include "cpu/row_order.hpp"

#include <lookback/order.hpp>

namespace lookback {
namespace {

bool same_kind(const sort_key& a, const sort_key& b) {
    const bool same_type = a.string_bytes != 0 || a.type == b.type;
    return a.string_bytes == b.string_bytes && same_type &&
           a.order.descending == b.order.descending && a.order.nan_first == b.order.nan_first;
}

}  // namespace

std::size_t first_disorder(const context& context, std::span<const sort_key> keys, std::size_t rows,
                           bool strict) {
    constexpr const char* who = "first_disorder";
    check_keys(who, keys, rows);
    require_cpu(context, who);
    return cpu::first_disorder(*context.internal().executor, cpu::columns_of(keys), rows, strict);
}

void mark_heads(const context& context, std::span<const sort_key> keys,
                std::span<std::uint8_t> heads) {
    constexpr const char* who = "mark_heads";
    check_keys(who, keys, heads.size());
    require_cpu(context, who);
    cpu::mark_heads(*context.internal().executor, cpu::columns_of(keys), heads);
}

template <class Index>
void mark_heads(const context& context, std::span<const sort_key> keys, std::size_t rows,
                std::span<const Index> index, std::span<std::uint8_t> heads) {
    constexpr const char* who = "mark_heads";
    check_keys(who, keys, rows);
    if (heads.size() != index.size()) {
        refuse(who, "heads has " + std::to_string(heads.size()) + " items and index has " +
                        std::to_string(index.size()));
    }
    require_cpu(context, who);
    check_index(context, who, index, rows);
    cpu::mark_heads(*context.internal().executor, cpu::columns_of(keys), index, heads);
}
template void mark_heads(const context&, std::span<const sort_key>, std::size_t,
                         std::span<const std::uint32_t>, std::span<std::uint8_t>);
template void mark_heads(const context&, std::span<const sort_key>, std::size_t,
                         std::span<const std::int64_t>, std::span<std::uint8_t>);

row_comparison::row_comparison(std::span<const sort_key> left, std::span<const sort_key> right)
    : left_(left.begin(), left.end()), right_(right.begin(), right.end()) {
    constexpr const char* who = "row_comparison";
    check_keys(who, left, 0);
    check_keys(who, right, 0);
    if (left.size() != right.size()) {
        refuse(who, "the tables have " + std::to_string(left.size()) + " and " +
                        std::to_string(right.size()) + " keys");
    }
    for (std::size_t k = 0; k < left.size(); ++k) {
        if (!same_kind(left[k], right[k])) {
            refuse(who, "key " + std::to_string(k) + " differs in type or order");
        }
    }
}

int row_comparison::operator()(std::size_t left_row, std::size_t right_row) const {
    for (std::size_t k = 0; k < left_.size(); ++k) {
        const int order = cpu::compare_rows(left_[k], left_row, right_[k], right_row);
        if (order != 0) return order;
    }
    return 0;
}

}  // namespace lookback
