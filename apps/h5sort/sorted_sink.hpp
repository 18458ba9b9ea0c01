// h5sort: sorted values on their way into the output, in ranges, from several threads.
#pragma once

#include "io/dataset.hpp"
#include "io/range_writer.hpp"
#include "io/transfer.hpp"

#include <lookback/buffer.hpp>
#include <lookback/context.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace lookback::apps::h5sort {

/// Ranges go into the file as they come; where the target does not take ranges, into an array that
/// is written at the end.
class sorted_sink {
public:
    sorted_sink(const context& context, const io::dataset& target,
                const io::transfer_options& options);

    /// Called from several threads at once, for disjoint ranges.
    void write(std::uint64_t first, std::uint64_t rows, const void* values);
    /// All rows were written.
    void finish();

private:
    io::dataset target_;
    io::transfer_options options_;
    std::optional<io::range_writer> ranges_;
    buffer<std::byte> whole_;
};

}  // namespace lookback::apps::h5sort
