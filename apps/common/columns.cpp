#include "common/columns.hpp"

#include "io/table.hpp"

#include <lookback/radix_sort.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lookback::apps {

held_column::held_column(const context& context, const io::dataset& like, io::form form,
                         std::uint64_t rows)
    : memory_(context, rows * like.row_bytes(form)),
      type_(like.type()),
      form_(form),
      row_bytes_(like.row_bytes(form)),
      row_items_(like.row_items()) {}

held_column::~held_column() {
    if (form_ == io::form::stored && type_.has_pointers && rows_ != 0) {
        io::reclaim(type_, memory_.data(), rows_ * row_items_);
    }
}

void held_column::swap(held_column& other) noexcept {
    memory_.swap(other.memory_);
    std::swap(type_, other.type_);
    std::swap(form_, other.form_);
    std::swap(row_bytes_, other.row_bytes_);
    std::swap(row_items_, other.row_items_);
    std::swap(rows_, other.rows_);
}

void held_column::append(const io::dataset& part, const io::transfer_options& options) {
    if (part.rows() == 0) return;
    io::read(part, form_, memory_.data() + rows_ * row_bytes_, options);
    rows_ += part.rows();
}

template <class Index>
void write_gathered(const io::dataset& target, const std::byte* rows, std::uint64_t count,
                    std::size_t row_bytes, io::form form, std::span<const Index> index,
                    const io::transfer_options& options) {
    io::write(
        target, form,
        [&](std::uint64_t first, std::uint64_t wanted, std::byte* into) {
            // Each encoding thread gathers for itself: a context belongs to one thread at a time.
            const context own({.backend = backend::cpu, .threads = 1});
            gather<Index>(own, rows, count, row_bytes, index.subspan(first, wanted), into);
        },
        options);
}
template void write_gathered(const io::dataset&, const std::byte*, std::uint64_t, std::size_t,
                             io::form, std::span<const std::uint32_t>, const io::transfer_options&);
template void write_gathered(const io::dataset&, const std::byte*, std::uint64_t, std::size_t,
                             io::form, std::span<const std::int64_t>, const io::transfer_options&);

template <class Index>
void write_index(const io::dataset& target, std::span<const Index> index,
                 const io::transfer_options& options) {
    io::write(
        target, io::form::native,
        [&](std::uint64_t first, std::uint64_t rows, std::byte* into) {
            std::transform(&index[first], &index[first] + rows,
                           reinterpret_cast<std::int64_t*>(into),
                           [](Index row) { return static_cast<std::int64_t>(row); });
        },
        options);
}
template void write_index(const io::dataset&, std::span<const std::uint32_t>,
                          const io::transfer_options&);
template void write_index(const io::dataset&, std::span<const std::int64_t>,
                          const io::transfer_options&);

void extract_key(const io::field& field, const std::byte* stored, std::size_t row_bytes,
                 std::uint64_t rows, std::byte* out, int threads) {
    if (field.type.kind != io::element_kind::fixed_string) {
        io::extract_field(field, stored, row_bytes, rows, out, threads);
        return;
    }
    const std::size_t bytes = field.type.bytes;
    for (std::uint64_t row = 0; row < rows; ++row) {
        std::memcpy(out + row * bytes, stored + row * row_bytes + field.offset, bytes);
    }
}

std::uint64_t batch_rows(const io::dataset& source, std::uint64_t bytes) {
    const std::uint64_t row_bytes = std::max<std::uint64_t>(source.row_bytes(io::form::stored), 1);
    const std::uint64_t wanted = std::max<std::uint64_t>(bytes / row_bytes, 1);
    const std::uint64_t chunk = source.chunk().empty() ? 1 : source.chunk()[0];
    return std::max<std::uint64_t>(wanted / chunk, 1) * chunk;
}

}  // namespace lookback::apps
