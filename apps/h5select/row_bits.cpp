#include "h5select/row_bits.hpp"

#include <lookback/error.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace lookback::apps::h5select {
namespace {

[[noreturn]] void throw_failed(const std::string& folder) {
    throw error(error_kind::io_error,
                fmt::format("{}: a temporary file cannot be used: {}; name another folder with "
                            "--tmp",
                            folder, std::strerror(errno)));
}

// Moves bytes by pread or pwrite, whole.
template <class Call, class Byte>
void move_all(const Call& call, int file, Byte* bytes, std::size_t size, std::uint64_t offset,
              const std::string& folder) {
    while (size > 0) {
        const ssize_t moved = call(file, bytes, size, static_cast<off_t>(offset));
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) throw_failed(folder);
        bytes += moved;
        size -= static_cast<std::size_t>(moved);
        offset += static_cast<std::uint64_t>(moved);
    }
}

}  // namespace

row_bits::row_bits(std::string folder, std::size_t memory_bytes)
    : folder_(folder.empty() ? "." : std::move(folder)),
      most_words_(std::max<std::size_t>(memory_bytes / 8, 2)) {}

row_bits::~row_bits() {
    if (file_ >= 0) close(file_);
}

void row_bits::spill() {
    if (file_ < 0) {
        std::string name = folder_ + "/h5select.XXXXXX";
        file_ = mkstemp(name.data());
        if (file_ < 0) throw_failed(folder_);
        unlink(name.c_str());
    }
    // The last word is not full yet.
    const std::size_t whole = words_.size() - 1;
    move_all(pwrite, file_, reinterpret_cast<const char*>(words_.data()), whole * 8,
             words_in_file_ * 8, folder_);
    words_in_file_ += whole;
    words_.erase(words_.begin(), words_.end() - 1);
}

void row_bits::append(const std::uint64_t* words, std::uint64_t rows) {
    const auto shift = static_cast<unsigned>(rows_ % 64);
    for (std::uint64_t w = 0; w * 64 < rows; ++w) {
        kept_ += static_cast<std::uint64_t>(std::popcount(words[w]));
        const std::uint64_t count = std::min<std::uint64_t>(64, rows - w * 64);
        if (shift == 0) {
            words_.push_back(words[w]);
        } else {
            words_.back() |= words[w] << shift;
            if (shift + count > 64) words_.push_back(words[w] >> (64 - shift));
        }
    }
    rows_ += rows;
    if (words_.size() > most_words_) spill();
}

std::vector<std::uint64_t> row_bits::read(std::uint64_t first, std::uint64_t rows) const {
    if (rows == 0) return {};
    const std::uint64_t begin = first / 64;
    const std::uint64_t end = (first + rows + 63) / 64;
    std::vector<std::uint64_t> found(end - begin);
    const std::uint64_t split = std::clamp(words_in_file_, begin, end);
    if (split > begin) {
        move_all(pread, file_, reinterpret_cast<char*>(found.data()), (split - begin) * 8,
                 begin * 8, folder_);
    }
    std::copy_n(
        words_.begin() + static_cast<std::ptrdiff_t>(split - std::min(split, words_in_file_)),
        end - split, found.begin() + static_cast<std::ptrdiff_t>(split - begin));
    if (const auto shift = static_cast<unsigned>(first % 64); shift != 0) {
        for (std::size_t w = 0; w < found.size(); ++w) {
            const std::uint64_t next = w + 1 < found.size() ? found[w + 1] << (64 - shift) : 0;
            found[w] = found[w] >> shift | next;
        }
    }
    found.resize((rows + 63) / 64);
    if (rows % 64 != 0) found.back() &= (std::uint64_t{1} << rows % 64) - 1;
    return found;
}

std::uint64_t row_bits::count(std::uint64_t first, std::uint64_t rows) const {
    std::uint64_t count = 0;
    for (const std::uint64_t word : read(first, rows)) {
        count += static_cast<std::uint64_t>(std::popcount(word));
    }
    return count;
}

}  // namespace lookback::apps::h5select
