#include "h5sort/check.hpp"

#include "common/visit_type.hpp"

#include <lookback/error.hpp>
#include <lookback/order.hpp>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace lookback::apps::h5sort {
namespace {

// Bytes of keys that a pass compares.
constexpr std::uint64_t pass_bytes = std::uint64_t{32} << 20;

std::string disorder_text(const plan& planned, const io::table& table,
                          const std::vector<sort_key>& keys, std::uint64_t row, std::uint64_t at) {
    return fmt::format("{}:{}: row {} is out of order: {} after {}", table.file_path(),
                       table.path(), row, row_text(planned, keys, at),
                       row_text(planned, keys, at - 1));
}

// Which segment each row of a pass belongs to, as one more key in front of the others.
class segment_numbers {
public:
    segment_numbers(std::vector<std::int64_t> offsets, std::uint64_t rows)
        : offsets_(std::move(offsets)), numbers_(offsets_.empty() ? 0 : rows) {}

    void fill(std::uint64_t first, std::uint64_t count) {
        if (offsets_.empty()) return;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto row = static_cast<std::int64_t>(first + i);
            while (segment_ + 1 < offsets_.size() && offsets_[segment_ + 1] <= row) ++segment_;
            numbers_[i] = segment_;
        }
    }
    void put_in_front(std::vector<sort_key>& keys) const {
        if (!offsets_.empty()) {
            keys.insert(keys.begin(), sort_key{numbers_.data(), data_type::u64, 0, {}});
        }
    }

private:
    std::vector<std::int64_t> offsets_;
    std::vector<std::uint64_t> numbers_;
    std::size_t segment_ = 0;
};

}  // namespace

std::optional<disorder> find_disorder(const plan& planned, const context& context, bool strict,
                                      const io::transfer_options& options) {
    const io::table& table = planned.first();
    const std::uint64_t rows = table.rows();
    std::uint64_t row_bytes = planned.segments ? sizeof(std::uint64_t) : 0;
    std::uint64_t batch = 1;
    for (const key_column& key : planned.keys) row_bytes += key.bytes();
    for (const key_column& key : planned.keys) {
        batch = std::max(batch, batch_rows(key.parts.front(),
                                           pass_bytes / std::max<std::uint64_t>(row_bytes, 1) *
                                               key.parts.front().row_bytes(io::form::stored)));
    }
    batch = std::min(batch, rows);
    std::vector<std::int64_t> offsets;
    if (planned.segments) offsets = read_segments(*planned.segments, rows, options);
    segment_numbers segments(std::move(offsets), batch + 1);
    key_values values(planned, context, batch + 1);
    // Row 0 of a pass is the last of the one before.
    for (std::uint64_t first = 0, kept = 0; first < rows; first += batch, kept = 1) {
        const std::uint64_t count = std::min(batch, rows - first);
        values.load_rows(0, first, count, kept, options);
        segments.fill(first - kept, count + kept);
        std::vector<sort_key> keys = values.sort_keys();
        segments.put_in_front(keys);
        const std::size_t at = first_disorder(context, keys, count + kept, strict);
        if (at < count + kept) {
            const std::uint64_t row = first + at - kept;
            return disorder{row, disorder_text(planned, table, values.sort_keys(), row, at)};
        }
        values.move_row(count + kept - 1, 0);
    }
    return std::nullopt;
}

void require_sorted_inputs(const plan& planned, const context& context,
                           const std::vector<sort_key>& keys) {
    std::vector<sort_key> rest = keys;
    for (const io::table& table : planned.inputs) {
        const std::uint64_t rows = table.rows();
        const std::size_t at = first_disorder(context, rest, rows);
        if (at < rows) {
            throw error(error_kind::invalid_argument,
                        disorder_text(planned, table, rest, at, at) +
                            "; sort this input first, or sort without --merge");
        }
        for (std::size_t k = 0; k < rest.size(); ++k) {
            rest[k].data =
                static_cast<const std::byte*>(rest[k].data) + rows * planned.keys[k].bytes();
        }
    }
}

std::vector<std::int64_t> read_segments(const io::dataset& offsets, std::uint64_t rows,
                                        const io::transfer_options& options) {
    const auto fail = [&](const std::string& what) {
        throw error(error_kind::invalid_argument,
                    fmt::format("{}: {}; offsets start at 0, do not decrease and end at the number "
                                "of rows, {}",
                                offsets.address(), what, rows));
    };
    if (offsets.rows() == 0) fail("there are no offsets");
    std::vector<std::int64_t> result(offsets.rows());
    visit_type(offsets.type().key.value_or(data_type::i64), [&]<class T>() {
        if constexpr (std::is_integral_v<T>) {
            std::vector<T> stored(offsets.rows());
            io::read(offsets, io::form::native, stored.data(), options);
            for (std::size_t i = 0; i < stored.size(); ++i) {
                if (std::is_unsigned_v<T> && stored[i] > static_cast<T>(INT64_MAX) &&
                    sizeof(T) == sizeof(std::int64_t)) {
                    fail(fmt::format("offset {} is {}", i, stored[i]));
                }
                result[i] = static_cast<std::int64_t>(stored[i]);
            }
        }
    });
    if (result.front() != 0) fail(fmt::format("offset 0 is {}", result.front()));
    for (std::size_t i = 1; i < result.size(); ++i) {
        if (result[i] < result[i - 1]) {
            fail(fmt::format("offset {} is {} after {}", i, result[i], result[i - 1]));
        }
    }
    if (result.back() != static_cast<std::int64_t>(rows)) {
        fail(fmt::format("offset {} (the last) is {}", result.size() - 1, result.back()));
    }
    return result;
}

}  // namespace lookback::apps::h5sort
