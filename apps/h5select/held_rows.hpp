// h5select: rows of columns that the condition reads and the output takes as well, held from the
// decision until they are moved, so that they are not decoded again.
// Invariant: of every such column the same first rows are held, as many as the plan's memory takes.
#pragma once

#include "h5select/plan.hpp"

#include <lookback/context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lookback::apps::h5select {

/// Plans which columns' rows are held, where reading them is decoding: as many as keep the whole
/// within 256 MiB, and within the cap. The other memory is planned before.
void plan_held_rows(plan& planned, const request& wanted);

class held_rows {
public:
    /// Rows of one batch of the decision, those kept and those not, each only where it is wanted.
    struct part {
        std::unique_ptr<std::byte[]> kept, rest;
        std::uint64_t kept_rows = 0, rest_rows = 0;
    };

    /// `kept` and `rest` say which of the two outputs are wanted.
    held_rows(const plan& planned, const context& context, bool kept, bool rest);

    /// Takes `rows` more rows, whose values lie at data[s] for stream s and whose flags are the
    /// bits of `words`, unless that would be too many.
    void take(std::span<const std::byte* const> data, std::uint64_t rows,
              std::span<const std::uint64_t> words);

    /// How many rows of the table's dataset `column` are held: its first ones.
    std::uint64_t rows_of(std::size_t column) const;
    /// Gives them away, in order.
    std::vector<part> release(std::size_t column);

private:
    const plan& plan_;
    const context& context_;
    bool kept_, rest_;
    bool full_;
    std::uint64_t rows_ = 0;
    std::uint64_t bytes_ = 0;
    std::vector<std::vector<part>> parts_;  // as plan.shared
};

}  // namespace lookback::apps::h5select
