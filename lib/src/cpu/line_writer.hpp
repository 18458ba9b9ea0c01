// CPU backend: writes bytes that are made piece by piece to where they belong, as whole cache
// lines. Invariant: nothing is written before the first byte nor behind the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lookback::cpu {

class line_writer {
public:
    static constexpr std::size_t line_bytes = 64;

    /// Writes lines to an address that is a multiple of line_bytes, and copies the one behind them.
    using store = void (*)(const std::byte* lines, std::size_t bytes, std::byte* to,
                           std::byte* carry);

    /// What a piece of so many bytes, written with up to a line more behind it, needs.
    static constexpr std::size_t scratch_bytes(std::size_t piece_bytes) {
        const std::size_t bytes = line_bytes + piece_bytes + line_bytes;
        return (bytes + line_bytes - 1) / line_bytes * line_bytes;
    }

    line_writer(std::byte* scratch, store store_lines) : lines_(scratch), store_(store_lines) {}

    void begin(std::byte* to) {
        to_ = to;
        foreign_ = filled_ = reinterpret_cast<std::uintptr_t>(to) % line_bytes;
    }
    /// Where the next piece is to be put.
    std::byte* next() { return lines_ + filled_; }
    /// Takes a piece of `bytes`, and writes the lines that are full.
    void take(std::size_t bytes) {
        filled_ += bytes;
        if (filled_ < line_bytes) return;
        std::size_t at = 0;
        if (foreign_ != 0) {
            // A line that another writer fills as well.
            std::memcpy(to_, lines_ + foreign_, line_bytes - foreign_);
            to_ += line_bytes - foreign_;
            foreign_ = 0;
            at = line_bytes;
        }
        const std::size_t full = filled_ / line_bytes * line_bytes;
        store_(lines_ + at, full - at, to_, lines_);
        to_ += full - at;
        filled_ -= full;
    }
    void finish() { std::memcpy(to_, lines_ + foreign_, filled_ - foreign_); }

private:
    std::byte* lines_;
    store store_;
    std::byte* to_ = nullptr;
    std::size_t foreign_ = 0;  // bytes of the first line that are not this writer's
    std::size_t filled_ = 0;
};

}  // namespace lookback::cpu
