#include "h5sort/sorted_sink.hpp"

#include <cstring>

namespace lookback::apps::h5sort {

sorted_sink::sorted_sink(const context& context, const io::dataset& target,
                         const io::transfer_options& options)
    : target_(target), options_(options) {
    if (io::range_writer::suits(target, io::form::native)) {
        ranges_.emplace(target, io::form::native, options);
    } else {
        whole_ = buffer<std::byte>(context, target.bytes(io::form::native));
    }
}

void sorted_sink::write(std::uint64_t first, std::uint64_t rows, const void* values) {
    if (ranges_) {
        ranges_->write(first, rows, values);
        return;
    }
    const std::size_t row_bytes = target_.row_bytes(io::form::native);
    std::memcpy(whole_.data() + first * row_bytes, values, rows * row_bytes);
}

void sorted_sink::finish() {
    if (ranges_) {
        ranges_->finish();
    } else if (!whole_.empty()) {
        io::write(target_, io::form::native, whole_.data(), options_);
    }
}

}  // namespace lookback::apps::h5sort
