#include "h5scan/text_runs.hpp"

#include "common/columns.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace lookback::apps::h5scan {
namespace {

/// Strings of a batch; HDF5 has allocated what the pointers point to.
class text_batch {
public:
    text_batch(const io::dataset& strings, std::uint64_t first, std::uint64_t rows,
               const io::transfer_options& transfer)
        : type_(strings.type()), texts_(rows) {
        io::read_rows(strings, first, rows, io::form::stored, texts_.data(), transfer);
    }
    text_batch(const text_batch&) = delete;
    text_batch& operator=(const text_batch&) = delete;
    ~text_batch() { io::reclaim(type_, texts_.data(), texts_.size()); }

    std::string_view operator[](std::size_t row) const {
        return texts_[row] == nullptr ? std::string_view() : std::string_view(texts_[row]);
    }

private:
    const io::element_type& type_;
    std::vector<const char*> texts_;
};

}  // namespace

std::vector<std::int64_t> text_run_begins(const io::dataset& strings,
                                          const io::transfer_options& transfer) {
    constexpr std::uint64_t batch_bytes = std::uint64_t{1} << 20;  // of pointers
    const std::uint64_t step = batch_rows(strings, batch_bytes);
    std::vector<std::int64_t> begins;
    std::optional<std::string> last;
    for (std::uint64_t first = 0; first < strings.rows(); first += step) {
        const auto rows = static_cast<std::size_t>(std::min(step, strings.rows() - first));
        const text_batch texts(strings, first, rows, transfer);
        for (std::size_t row = 0; row < rows; ++row) {
            const bool begins_run = row == 0 ? last != texts[0] : texts[row - 1] != texts[row];
            if (begins_run) begins.push_back(static_cast<std::int64_t>(first + row));
        }
        last = texts[rows - 1];
    }
    return begins;
}

}  // namespace lookback::apps::h5scan
