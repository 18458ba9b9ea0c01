// Apps: programs over batches of rows, on the CPU.
// Invariant: the flags depend on the values alone, not on how rows are cut into batches. One
// evaluator a thread.
#pragma once

#include "common/program.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lookback::apps {

/// The values of one input, a row every `stride` bytes.
struct input_rows {
    /// Numbers as in memory; fixed text of `text_bytes` bytes; with pointers: of zero-ended text.
    const std::byte* data = nullptr;
    std::size_t stride = 0;
    bool swapped = false;  ///< numbers in the other byte order
    std::size_t text_bytes = 0;
    bool pointers = false;
    bool zero_ended = false;    ///< fixed text ends at its first zero byte
    bool space_padded = false;  ///< blanks at the end of text do not count
};

/// Where an operation had no result.
struct program_fault {
    std::uint64_t row = 0;
    std::size_t column = 0;  ///< in the text of the expression
    std::string what;
};

class program_run {
public:
    explicit program_run(const program& of);
    program_run(program_run&&) noexcept;
    ~program_run();

    /// words = the flags of `rows` rows from first_row on, one bit a row; inputs begin at
    /// first_row. Returns the first fault: then the flags mean nothing.
    std::optional<program_fault> mark(std::span<const input_rows> inputs, std::uint64_t first_row,
                                      std::size_t rows, std::uint64_t* words);

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace lookback::apps
