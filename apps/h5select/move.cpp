#include "h5select/move.hpp"

#include "io/stream.hpp"

#include <lookback/buffer.hpp>
#include <lookback/compact.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

namespace lookback::apps::h5select {
namespace {

/// Rows whose variable-length parts must stay until they are written, and be given back then.
class pointer_writer {
public:
    pointer_writer(io::dataset target, const io::transfer_options& transfer)
        : target_(std::move(target)),
          transfer_(transfer),
          row_bytes_(target_.row_bytes(io::form::stored)),
          most_rows_(io::batch_rows(target_, io::form::stored)),
          rows_(std::make_unique_for_overwrite<std::byte[]>(most_rows_ * row_bytes_)) {}
    pointer_writer(const pointer_writer&) = delete;
    pointer_writer& operator=(const pointer_writer&) = delete;
    ~pointer_writer() { give_back(); }

    /// The rows' parts belong to this writer from now on.
    void append(const std::byte* from, std::uint64_t rows) {
        while (rows > 0) {
            const std::uint64_t taken = std::min(rows, most_rows_ - filled_);
            std::memcpy(rows_.get() + filled_ * row_bytes_, from, taken * row_bytes_);
            filled_ += taken;
            from += taken * row_bytes_;
            rows -= taken;
            if (filled_ == most_rows_) write();
        }
    }
    void finish() {
        if (filled_ > 0) write();
    }

private:
    void write() {
        io::write_rows(target_, first_, filled_, io::form::stored, rows_.get(), transfer_);
        first_ += filled_;
        give_back();
    }
    void give_back() {
        if (filled_ == 0) return;
        io::reclaim(target_.type(), rows_.get(), filled_ * target_.row_items());
        filled_ = 0;
    }

    const io::dataset target_;
    const io::transfer_options transfer_;
    const std::uint64_t row_bytes_, most_rows_;
    std::unique_ptr<std::byte[]> rows_;
    std::uint64_t first_ = 0;
    std::uint64_t filled_ = 0;
};

/// One of the two sides that rows go to, or neither.
class side {
public:
    side(const io::dataset& source, const std::optional<io::dataset>& target, std::uint64_t rows,
         const io::transfer_options& transfer)
        : pointers_(source.type().has_pointers ? &source.type() : nullptr),
          row_items_(source.row_items()),
          wanted_(target.has_value()) {
        if (!target || rows == 0) return;
        if (pointers_ != nullptr) {
            keeper_ = std::make_unique<pointer_writer>(*target, transfer);
        } else {
            writer_ = std::make_unique<io::row_writer>(*target, io::form::stored, transfer);
        }
    }

    bool wanted() const { return wanted_; }
    /// Whether rows of this side have to be moved at all: others' parts must be given back.
    bool takes() const { return wanted_ || pointers_ != nullptr; }

    void append(std::byte* rows, std::uint64_t count) {
        if (count == 0) return;
        if (keeper_) {
            keeper_->append(rows, count);
        } else if (writer_) {
            writer_->append(rows, count);
        } else if (pointers_ != nullptr) {
            io::reclaim(*pointers_, rows, count * row_items_);
        }
    }
    void finish() {
        if (keeper_) keeper_->finish();
        if (writer_) writer_->finish();
    }

private:
    const io::element_type* pointers_;
    std::uint64_t row_items_;
    bool wanted_;
    std::unique_ptr<io::row_writer> writer_;
    std::unique_ptr<pointer_writer> keeper_;
};

std::uint64_t count_bits(const std::vector<std::uint64_t>& words) {
    std::uint64_t count = 0;
    for (const std::uint64_t word : words) count += static_cast<std::uint64_t>(std::popcount(word));
    return count;
}

}  // namespace

void move_rows(const context& context, const io::dataset& source, std::size_t column,
               held_rows& held, const row_bits& kept, const std::optional<io::dataset>& to_kept,
               const std::optional<io::dataset>& to_rest, const io::transfer_options& transfer) {
    const std::uint64_t row_bytes = source.row_bytes(io::form::stored);
    side keep(source, to_kept, kept.kept(), transfer);
    side rest(source, to_rest, kept.rows() - kept.kept(), transfer);
    if (row_bytes == 0) return;

    io::transfer_options reading = transfer;
    reading.wanted = [&](std::uint64_t first, std::uint64_t end) {
        const std::uint64_t count = kept.count(first, end - first);
        return (keep.wanted() && count != 0) || (rest.wanted() && count != end - first);
    };
    const std::uint64_t held_rows = held.rows_of(column);
    for (auto& [kept_part, rest_part, kept_count, rest_count] : held.release(column)) {
        keep.append(kept_part.get(), kept_count);
        rest.append(rest_part.get(), rest_count);
        kept_part.reset();
        rest_part.reset();
    }
    const bool pointers = source.type().has_pointers;
    // Rows with pointers are read as a whole: what a skipped row points to is not known.
    io::row_reader reader(source, io::form::stored, held_rows, source.rows() - held_rows,
                          pointers ? transfer : reading);
    buffer<std::byte> kept_rows;
    buffer<std::byte> rest_rows;
    while (const auto batch = reader.next()) {
        const std::vector<std::uint64_t> words = kept.read(batch->first_row, batch->rows);
        const std::uint64_t count = count_bits(words);
        const auto make_room = [&](buffer<std::byte>& rows) {
            const std::uint64_t bytes = batch->rows * row_bytes;
            if (rows.size() < bytes) rows = buffer<std::byte>(context, bytes);
            return rows.data();
        };
        moved_rows moved{batch->data, row_bytes, nullptr, nullptr};
        if (keep.takes() && count != 0) moved.kept = make_room(kept_rows);
        if (rest.takes() && count != batch->rows) moved.rest = make_room(rest_rows);
        if (moved.kept == nullptr && moved.rest == nullptr) continue;
        compact(context, row_flags::bits(words, batch->rows), {&moved, 1});
        if (moved.kept != nullptr) keep.append(kept_rows.data(), count);
        if (moved.rest != nullptr) rest.append(rest_rows.data(), batch->rows - count);
    }
    keep.finish();
    rest.finish();
}

void write_row_numbers(const row_bits& kept, const io::dataset& target,
                       const io::transfer_options& transfer) {
    if (kept.kept() == 0) return;
    constexpr std::uint64_t step = std::uint64_t{1} << 18;
    io::row_writer writer(target, io::form::native, transfer);
    std::vector<std::int64_t> numbers;
    for (std::uint64_t first = 0; first < kept.rows(); first += step) {
        numbers.clear();
        const std::vector<std::uint64_t> words =
            kept.read(first, std::min(step, kept.rows() - first));
        for (std::size_t w = 0; w < words.size(); ++w) {
            for (std::uint64_t left = words[w]; left != 0; left &= left - 1) {
                numbers.push_back(static_cast<std::int64_t>(
                    first + w * 64 + static_cast<std::uint64_t>(std::countr_zero(left))));
            }
        }
        writer.append(numbers.data(), numbers.size());
    }
    writer.finish();
}

}  // namespace lookback::apps::h5select
