// h5select: of rows that pass and follow each other, those that differ from the one before.
// Invariant: the rows may come in batches of any size; -0.0 equals +0.0, NaN equals NaN.
#pragma once

#include "h5select/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lookback::apps::h5select {

class unique_filter {
public:
    explicit unique_filter(const plan& planned) : plan_(planned), last_(planned.unique.size()) {}

    /// data[s] is the first of the rows in stream s; `words` marks those that pass.
    void keep_first(const std::vector<const std::byte*>& data, std::uint64_t rows,
                    std::vector<std::uint64_t>& words);

private:
    /// A value of the last row that passed in an earlier batch.
    struct held_value {
        std::vector<std::byte> bytes;
        std::string text;
    };

    const std::byte* at(const std::vector<const std::byte*>& data, std::size_t c,
                        std::uint64_t row) const;
    bool is_pointer(std::size_t c) const;
    bool equals_previous(const std::vector<const std::byte*>& data, std::uint64_t row,
                         const std::optional<std::uint64_t>& previous) const;

    const plan& plan_;
    std::vector<held_value> last_;
    bool any_ = false;
};

}  // namespace lookback::apps::h5select
