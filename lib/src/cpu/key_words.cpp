#include "cpu/key_words.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace lookback::cpu {
namespace {

constexpr std::size_t batch_rows = 256;
constexpr std::size_t task_rows = std::size_t{1} << 16;
// Columns further back decide few rows: they are taken as wide as their type is.
constexpr std::size_t measured_columns = 8;

struct extent {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t most = 0;
    std::uint64_t differ = 0;  // bits in which two rows differ

    void include(const std::uint64_t* numbers, std::size_t count) {
        const std::uint64_t first = numbers[0];
        for (std::size_t i = 0; i < count; ++i) {
            least = std::min(least, numbers[i]);
            most = std::max(most, numbers[i]);
            differ |= numbers[i] ^ first;
        }
    }
    void include(const extent& other) {
        // Two least numbers stand for their groups: what differs inside is in `differ` already.
        if (least <= most && other.least <= other.most) differ |= least ^ other.least;
        differ |= other.differ;
        least = std::min(least, other.least);
        most = std::max(most, other.most);
    }
};

extent measure(executor& executor, const key_column& column, std::size_t rows) {
    std::vector<extent> parts(rows / task_rows + 1);
    executor.for_each(parts.size(), [&](std::size_t task) {
        const std::size_t end = std::min(rows, (task + 1) * task_rows);
        std::uint64_t numbers[batch_rows];
        extent whole;
        for (std::size_t row = task * task_rows; row < end; row += batch_rows) {
            const std::size_t count = std::min(batch_rows, end - row);
            column.load(row, count, numbers);
            extent part;
            part.include(numbers, count);
            whole.include(part);
        }
        parts[task] = whole;
    });
    extent whole;
    for (const extent& part : parts) whole.include(part);
    return whole;
}

}  // namespace

void key_word::append(const field& part) {
    fields_.push_back(part);
    bits_ += part.bits;
}

key_word key_word::at(const void* data, std::size_t stride_bytes) const {
    key_word moved = *this;
    moved.fields_[0].column = fields_[0].column.at(data, stride_bytes);
    return moved;
}

template <class Load>
void key_word::compose(std::size_t count, std::uint64_t* out, const Load& load) const {
    int below = 64 - fields_[0].bits;
    load(fields_[0].column, std::size_t{0}, count, out);
    const field& head = fields_[0];
    for (std::size_t i = 0; i < count; ++i) out[i] = (out[i] - head.base) >> head.low << below;
    std::uint64_t numbers[batch_rows];
    for (std::size_t f = 1; f < fields_.size(); ++f) {
        const field& part = fields_[f];
        below -= part.bits;
        for (std::size_t row = 0; row < count; row += batch_rows) {
            const std::size_t block = std::min(batch_rows, count - row);
            load(part.column, row, block, numbers);
            for (std::size_t i = 0; i < block; ++i) {
                out[row + i] |= (numbers[i] - part.base) >> part.low << below;
            }
        }
    }
}

void key_word::load(std::size_t first, std::size_t count, std::uint64_t* out) const {
    compose(count, out,
            [first](const key_column& column, std::size_t row, std::size_t rows,
                    std::uint64_t* numbers) { column.load(first + row, rows, numbers); });
}

template <class Row>
void key_word::load_at(const Row* at, std::size_t count, std::uint64_t* out) const {
    compose(count, out,
            [at](const key_column& column, std::size_t row, std::size_t rows,
                 std::uint64_t* numbers) { column.load_at(at + row, rows, numbers); });
}
template void key_word::load_at(const std::uint32_t*, std::size_t, std::uint64_t*) const;
template void key_word::load_at(const std::uint64_t*, std::size_t, std::uint64_t*) const;
template void key_word::load_at(const std::int64_t*, std::size_t, std::uint64_t*) const;

std::vector<key_word> make_key_words(executor& executor, std::span<const key_column> columns,
                                     std::size_t rows) {
    std::vector<key_word> words;
    for (std::size_t c = 0; c < columns.size(); ++c) {
        key_word::field part{columns[c], 0, 0, columns[c].width()};
        if (c < measured_columns) {
            const extent found = measure(executor, columns[c], rows);
            if (found.differ == 0) continue;
            part.base = found.least;
            part.low = std::countr_zero(found.differ);
            part.bits = static_cast<int>(std::bit_width((found.most - found.least) >> part.low));
        }
        if (words.empty() || words.back().bits() + part.bits > 64) words.emplace_back();
        words.back().append(part);
    }
    return words;
}

}  // namespace lookback::cpu
